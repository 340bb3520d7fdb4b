// Tables as files. Pure.

/** RFC 4180. A text that a spreadsheet would take as a formula gets an apostrophe, since names come from outside. */
export function toCsv(heads: string[], rows: (string | number | undefined)[][]): string {
  return [heads, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

function cell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
