// A gang as one types it. Pure.

const requestPattern = /^[A-Za-z0-9][A-Za-z0-9./_-]*=\d+(\.\d+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$/;

export const mostPods = 100_000;

/** A sentence about what is wrong with it, or undefined. */
export function faultOfGang(pods: string, requests: string): string | undefined {
  const count = Number(pods.trim());
  if (!/^\d+$/.test(pods.trim()) || count < 1 || count > mostPods) return `Pods is a number from 1 to ${mostPods.toLocaleString('en-US')}.`;
  const parts = requests.trim().split(',');
  const wrong = parts.find((part) => !requestPattern.test(part.trim()));
  if (wrong !== undefined) return wrong.trim() === '' ? 'Write what each pod asks for: cpu=1,memory=2Gi.' : `"${wrong.trim()}" is not RESOURCE=QUANTITY, as cpu=1 or memory=2Gi.`;
  return undefined;
}
