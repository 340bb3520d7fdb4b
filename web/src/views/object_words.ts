// What is said of configuration objects, pure: conditions, labels, quotas and who uses one.
import type { ConfigObject } from '../api/types.js';
import { listOf, objectOf, textOf } from './loose.js';

export interface ConditionWords {
  status: string;
  reason: string;
  message: string;
}

/** A condition of an object; where it has none, all is empty. */
export function conditionOf(object: unknown, type: string): ConditionWords {
  const found = listOf(objectOf(objectOf(object)['status'])['conditions']).find((c) => textOf(c['type']) === type);
  return { status: textOf(found?.['status']), reason: textOf(found?.['reason']), message: textOf(found?.['message']) };
}

/** "a=b, c=d" of labels. */
export function labelsText(labels: unknown): string {
  return Object.entries(objectOf(labels))
    .map(([key, value]) => (textOf(value) === '' ? key : `${key}=${textOf(value)}`))
    .join(', ');
}

/** "key=value:Effect" of a taint or a toleration. */
export function taintText(taint: Record<string, unknown>): string {
  const key = textOf(taint['key']) || 'every key';
  const value = textOf(taint['value']);
  const effect = textOf(taint['effect']);
  return `${key}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`;
}

/** "standard/cpu 12 of 16" of each pair, from status.hindsight.quota. */
export function quotaText(quota: unknown): string {
  return listOf(quota)
    .map((line) => `${textOf(line['flavor'])}/${textOf(line['resource'])} ${textOf(line['used']) || '0'} of ${textOf(line['nominal']) || 'unlimited'}`)
    .join(', ');
}

/** All who use it, as a text. */
export function wordsOfUsers(item: Pick<ConfigObject, 'usedBy' | 'usedByLeftOut'>): string {
  const names = item.usedBy.map((ref) => `${ref.kind} ${ref.namespace ? `${ref.namespace}/` : ''}${ref.name}`);
  return names.join(', ') + (item.usedByLeftOut > 0 ? ` and ${item.usedByLeftOut} more` : '');
}

export interface UsageLine {
  flavor: string;
  resource: string;
  reserved: string;
  used: string;
  borrowed: string;
}

/** What a queue has reserved and uses, by flavor and resource, from its status. */
export function usageLines(object: unknown): UsageLine[] {
  const status = objectOf(objectOf(object)['status']);
  const lines = new Map<string, UsageLine>();
  const add = (list: unknown, put: (line: UsageLine, resource: Record<string, unknown>) => void) => {
    for (const flavor of listOf(list))
      for (const resource of listOf(flavor['resources'])) {
        const key = `${textOf(flavor['name'])}\n${textOf(resource['name'])}`;
        const line = lines.get(key) ?? { flavor: textOf(flavor['name']), resource: textOf(resource['name']), reserved: '0', used: '0', borrowed: '' };
        put(line, resource);
        lines.set(key, line);
      }
  };
  add(status['flavorsReservation'], (line, r) => {
    line.reserved = textOf(r['total']);
    line.borrowed = textOf(r['borrowed']);
  });
  add(status['flavorsUsage'], (line, r) => (line.used = textOf(r['total'])));
  return [...lines.values()];
}

export interface QuotaLine {
  flavor: string;
  resource: string;
  nominal: string;
  borrowing: string;
  lending: string;
}

/** The quota that a ClusterQueue or Cohort is given, from its spec, in the order in which flavors are tried. */
export function quotaLines(object: unknown): QuotaLine[] {
  const lines: QuotaLine[] = [];
  for (const group of listOf(objectOf(objectOf(object)['spec'])['resourceGroups']))
    for (const flavor of listOf(group['flavors']))
      for (const resource of listOf(flavor['resources']))
        lines.push({
          flavor: textOf(flavor['name']),
          resource: textOf(resource['name']),
          nominal: textOf(resource['nominalQuota']),
          borrowing: textOf(resource['borrowingLimit']),
          lending: textOf(resource['lendingLimit']),
        });
  return lines;
}
