// Numbers, times and names as people read them. Pure.

const short: Record<number, string> = {
  0x00: 'NUL',
  0x07: 'BEL',
  0x08: 'BS',
  0x09: 'TAB',
  0x0a: 'LF',
  0x0d: 'CR',
  0x1b: 'ESC',
  0x7f: 'DEL',
};

/** Control, direction and invisible characters of a name, as something one sees. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g, (sign) => {
    const code = sign.charCodeAt(0);
    return `\u27e8${short[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`}\u27e9`;
  });
}

/** A long name with its middle left out; ends say most. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** 18,204,113 */
export function formatCount(value: number): string {
  return Number.isFinite(value) ? value.toLocaleString('en-US', { maximumFractionDigits: 0 }) : '–';
}

/** 1,000 of something: "1 workload", "3 workloads". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Two units at most: "0.4 s", "24 s", "4 min 12 s", "3 d 4 h". */
export function formatDuration(milliseconds: number): string {
  const ms = Math.abs(milliseconds);
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1) return '0 s';
  if (ms < 10_000) return `${Number((ms / 1000).toFixed(ms < 100 ? 3 : 1))} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  if (seconds < 86_400) return two(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min');
  return two(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h');
}

/** One unit, for where there is little room: "11.5 h". */
export function formatDurationShort(milliseconds: number): string {
  const ms = Math.abs(milliseconds);
  if (!(ms >= 60_000)) return formatDuration(milliseconds);
  const [unit, size] =
    ms < 3_600_000 ? (['min', 60_000] as const) : ms < 86_400_000 ? (['h', 3_600_000] as const) : (['d', 86_400_000] as const);
  const value = ms / size;
  return `${value < 100 ? Number(value.toFixed(1)) : formatCount(value)} ${unit}`;
}

function two(great: number, greatUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${formatCount(great)} ${greatUnit}` : `${formatCount(great)} ${greatUnit} ${small} ${smallUnit}`;
}

/** Microseconds since 1970 of an RFC 3339 time in UTC; NaN if it is none. */
export function microsOf(time: string): number {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(time);
  if (!match) return Number.NaN;
  const seconds = Date.parse(`${match[1]}${match[3]}`) / 1000;
  return seconds * 1_000_000 + Number((match[2] ?? '').padEnd(6, '0').slice(0, 6) || 0);
}

/** RFC 3339 with microseconds, UTC. */
export function timeOf(micros: number): string {
  if (!Number.isFinite(micros)) return '';
  const milliseconds = Math.floor(micros / 1000);
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.toISOString().slice(0, -1)}${String(Math.round(micros - milliseconds * 1000)).padStart(3, '0')}Z`;
}

/** "12 s ago", "in 4 min", "now": of a time, seen from a moment. Both RFC 3339. */
export function formatRelative(time: string, from: string): string {
  const milliseconds = (microsOf(time) - microsOf(from)) / 1000;
  if (Number.isNaN(milliseconds)) return '–';
  if (Math.abs(milliseconds) < 1) return 'now';
  return milliseconds < 0 ? `${formatDuration(milliseconds)} ago` : `in ${formatDuration(milliseconds)}`;
}

/** How far a zone is ahead of UTC at a time, as "+02:00"; "UTC" if it is not. */
export function zoneOffset(zone: string, time: string): string {
  const p = partsOf(time, zone);
  const micros = microsOf(time);
  if (!p) return 'UTC';
  const there = Date.UTC(
    Number(p['year']),
    Number(p['month']) - 1,
    Number(p['day']),
    Number(p['hour']),
    Number(p['minute']),
    Number(p['second']),
  );
  const minutes = Math.round((there - Math.floor(micros / 1e6) * 1000) / 60_000);
  if (minutes === 0) return 'UTC';
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Parts of a time in a zone: 'UTC', 'local' or an IANA name; one that the browser does not know counts as UTC. */
function partsOf(time: string, zone: string): Record<string, string> | undefined {
  const micros = microsOf(time);
  if (Number.isNaN(micros)) return undefined;
  let format = formats.get(zone);
  if (!format) {
    const options: Intl.DateTimeFormatOptions = {
      weekday: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'short',
    };
    try {
      format = new Intl.DateTimeFormat('en-GB', zone === 'local' ? options : { ...options, timeZone: zone });
    } catch {
      format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
    }
    formats.set(zone, format);
  }
  const parts: Record<string, string> = {};
  for (const part of format.formatToParts(new Date(Math.floor(micros / 1000)))) parts[part.type] = part.value;
  parts['fraction'] = String(((micros % 1_000_000) + 1_000_000) % 1_000_000).padStart(6, '0');
  return parts;
}

/** "2026-01-06 14:03:07.412345 UTC": all that is known of it. */
export function formatExact(time: string, zone: string): string {
  const p = partsOf(time, zone);
  return p
    ? `${p['year']}-${p['month']}-${p['day']} ${p['hour']}:${p['minute']}:${p['second']}.${p['fraction']} ${p['timeZoneName']}`
    : '–';
}

/** "Tue 2026-01-06 14:03:07.412" */
export function formatTime(time: string, zone: string): string {
  const p = partsOf(time, zone);
  return p
    ? `${p['weekday']} ${p['year']}-${p['month']}-${p['day']} ${p['hour']}:${p['minute']}:${p['second']}.${(p['fraction'] ?? '').slice(0, 3)}`
    : '–';
}

/** "14:03:07" on an axis; with the day, or with fractions, if the axis spans that much or that little. */
export function formatTick(micros: number, zone: string, stepMicros: number): string {
  const p = partsOf(timeOf(micros), zone);
  if (!p) return '';
  if (stepMicros >= 86_400e6) return `${p['month']}-${p['day']}`;
  if (stepMicros >= 60e6) return `${p['hour']}:${p['minute']}`;
  if (stepMicros >= 1e6) return `${p['hour']}:${p['minute']}:${p['second']}`;
  return `${p['minute']}:${p['second']}.${(p['fraction'] ?? '').slice(0, stepMicros >= 1000 ? 3 : 6)}`;
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500]
  .flatMap((n) => [n, n * 1000])
  .concat(
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map((s) => s * 1e6),
    [2, 7, 14, 30, 60, 90, 180, 365].map((d) => d * 86_400e6),
  )
  .sort((a, b) => a - b);

/** Round moments (microseconds) between two, at most so many. */
export function ticksOf(from: number, to: number, most: number): { at: number[]; step: number } {
  const span = to - from;
  if (!(span > 0) || most < 1) return { at: [], step: 1 };
  const step = steps.find((s) => span / s <= most) ?? 365 * 86_400e6 * Math.ceil(span / (365 * 86_400e6 * most));
  const at: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to && at.length <= most; t += step) at.push(t);
  return { at, step };
}

const binary: [string, number][] = [
  ['Ei', 2 ** 60],
  ['Pi', 2 ** 50],
  ['Ti', 2 ** 40],
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['Ki', 1024],
];

/** A number in milli-units as a quantity of a resource: 7500 of cpu is "7.5", of memory bytes with Ki, Mi, Gi. */
export function formatQuantity(milli: number, resource: string): string {
  const value = milli / 1000;
  if (/memory|storage|hugepages/.test(resource)) {
    for (const [unit, size] of binary) if (Math.abs(value) >= size) return `${trimmed(value / size)}${unit}`;
  }
  return trimmed(value);
}

function trimmed(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 10 ? 3 : 1 });
}

/** "88 %" of per mille. */
export function formatPerMille(perMille: number): string {
  return `${trimmed(Math.round(perMille) / 10)} %`;
}
