/** "WaitingForQuota" as "Waiting for quota"; what is no such word stays. Pure. */
export function spaced(code: string): string {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(code)) return code;
  const words = code
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(' ');
  return words.map((word, i) => (i === 0 || /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase())).join(' ');
}
