// Answers whose shape the API leaves open (`why`, `how`): read field by field, and whatever is missing counts as nothing. Pure.

export type Loose = Record<string, unknown>;

export const objectOf = (value: unknown): Loose => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {});
export const listOf = (value: unknown): Loose[] => (Array.isArray(value) ? value.map(objectOf) : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
