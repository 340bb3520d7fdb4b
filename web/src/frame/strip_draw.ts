// Paints the strip: use of nominal as an area, how many wait as a line, marks, silences, and round times below.
import type { Mark, Timeline } from '../api/types.js';
import { ticksOf, formatTick } from '../ui/format.js';
import { indexBefore, type Range } from '../state/timescale.js';

export interface StripColours {
  ink: string;
  quiet: string;
  line: string;
  paper: string;
  used: string;
  usedLine: string;
  wait: string;
  bad: string;
  accent: string;
  font: string;
}

export interface StripPicture {
  width: number;
  height: number;
  range: Range;
  timelines: Timeline[]; // the finer ones later: they paint over
  ghost?: Timeline; // what was, beside a branch
  zone: string;
  axis: boolean;
}

const markRoom = 10; // px above for marks
const axisRoom = 16;

export function drawStrip(c: CanvasRenderingContext2D, picture: StripPicture, colours: StripColours): void {
  const { width, height, range } = picture;
  const bottom = height - (picture.axis ? axisRoom : 0);
  const x = (micros: number) => ((micros - range.from) / (range.to - range.from)) * width;
  c.clearRect(0, 0, width, height);
  const inView = picture.timelines.filter((t) => t.time.length > 0);
  const finest = inView.at(-1);
  if (!finest) return;
  const plot = { top: markRoom, bottom };
  drawSilences(c, finest, x, plot, colours);
  c.strokeStyle = colours.line;
  c.lineWidth = 1;
  // The nominal quota: the line that the area is measured by.
  const nominalY = yOf(1000, 1250, plot);
  c.setLineDash([2, 3]);
  c.beginPath();
  c.moveTo(0, Math.round(nominalY) + 0.5);
  c.lineTo(width, Math.round(nominalY) + 0.5);
  c.stroke();
  c.setLineDash([]);
  drawUsed(c, finest, x, plot, colours);
  const most = Math.max(
    1,
    ...seen(finest.waiting, finest, range),
    ...(picture.ghost ? seen(picture.ghost.waiting, picture.ghost, range) : []),
  );
  if (picture.ghost) drawLine(c, picture.ghost, picture.ghost.waiting, x, (v) => yOf(v, most * 1.15, plot), colours.quiet, [3, 3]);
  drawLine(c, finest, finest.waiting, x, (v) => yOf(v, most * 1.15, plot), colours.wait, []);
  for (const mark of finest.marks) drawMark(c, mark, x(mark.time), plot, colours);
  if (picture.axis) drawAxis(c, picture, bottom, x, colours);
}

function yOf(value: number, full: number, plot: { top: number; bottom: number }): number {
  return plot.bottom - Math.min(1, value / full) * (plot.bottom - plot.top);
}

function seen(values: (number | null)[], timeline: Timeline, range: Range): number[] {
  const first = indexBefore(timeline.time, range.from);
  const last = indexBefore(timeline.time, range.to);
  return values.slice(first, last + 1).filter((v): v is number => v !== null);
}

function drawUsed(
  c: CanvasRenderingContext2D,
  t: Timeline,
  x: (m: number) => number,
  plot: { top: number; bottom: number },
  colours: StripColours,
): void {
  const line = new Path2D();
  const area = new Path2D();
  let start: number | undefined;
  let end = 0;
  const close = () => {
    if (start === undefined) return;
    area.lineTo(end, plot.bottom);
    area.lineTo(start, plot.bottom);
    area.closePath();
    start = undefined;
  };
  t.used.forEach((value, i) => {
    if (value === null) return close();
    const left = x(t.time[i] ?? 0);
    const right = i + 1 < t.time.length ? x(t.time[i + 1] as number) : x(Date.parse(t.to.time) * 1000);
    const y = yOf(value, 1250, plot);
    for (const path of [line, area]) {
      if (start === undefined) path.moveTo(left, y);
      else path.lineTo(left, y);
      path.lineTo(right, y);
    }
    start ??= left;
    end = right;
  });
  close();
  c.fillStyle = colours.used;
  c.fill(area);
  c.strokeStyle = colours.usedLine;
  c.lineWidth = 1;
  c.stroke(line);
}

function drawLine(
  c: CanvasRenderingContext2D,
  t: Timeline,
  values: (number | null)[],
  x: (m: number) => number,
  y: (v: number) => number,
  colour: string,
  dash: number[],
): void {
  c.beginPath();
  values.forEach((value, i) => {
    if (value === null) return;
    const left = x(t.time[i] ?? 0);
    const right = i + 1 < t.time.length ? x(t.time[i + 1] as number) : x(Date.parse(t.to.time) * 1000);
    if (i === 0 || values[i - 1] === null) c.moveTo(left, y(value));
    else c.lineTo(left, y(value));
    c.lineTo(right, y(value));
  });
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
}

/** Nobody decided: hatched from top to bottom. */
function drawSilences(
  c: CanvasRenderingContext2D,
  t: Timeline,
  x: (m: number) => number,
  plot: { top: number; bottom: number },
  colours: StripColours,
): void {
  for (const silence of t.silences) {
    const left = x(silence.from);
    const right = Math.max(left + 2, x(silence.to));
    c.save();
    c.beginPath();
    c.rect(left, plot.top, right - left, plot.bottom - plot.top);
    c.clip();
    c.strokeStyle = colours.quiet;
    c.lineWidth = 1;
    c.beginPath();
    const tall = plot.bottom - plot.top;
    for (let at = Math.max(-tall, left - tall); at < Math.min(right, 8000); at += 5) {
      c.moveTo(at, plot.bottom);
      c.lineTo(at + tall, plot.top);
    }
    c.stroke();
    c.restore();
  }
}

/** Each kind has a shape of its own. */
function drawMark(c: CanvasRenderingContext2D, mark: Mark, x: number, plot: { top: number; bottom: number }, colours: StripColours): void {
  const size = mark.count > 20 ? 5 : mark.count > 3 ? 4 : 3;
  c.lineWidth = 1.5;
  switch (mark.kind) {
    case 'eviction': // hangs from the top
      c.fillStyle = colours.bad;
      c.beginPath();
      c.moveTo(x - size, 1);
      c.lineTo(x + size, 1);
      c.lineTo(x, 1 + size * 1.7);
      c.fill();
      return;
    case 'configuration': // stands on the ground
      c.fillStyle = colours.accent;
      c.beginPath();
      c.moveTo(x - size, plot.bottom);
      c.lineTo(x + size, plot.bottom);
      c.lineTo(x, plot.bottom - size * 1.7);
      c.fill();
      return;
    case 'epoch':
      c.strokeStyle = colours.quiet;
      c.beginPath();
      c.moveTo(Math.round(x) + 0.5, plot.top);
      c.lineTo(Math.round(x) + 0.5, plot.bottom);
      c.stroke();
      return;
    case 'refusal':
      c.strokeStyle = colours.bad;
      c.strokeRect(x - size + 0.5, 2.5, size * 2 - 2, size * 2 - 2);
      return;
    default:
      c.strokeStyle = colours.bad;
      c.beginPath();
      c.moveTo(x - size, 2);
      c.lineTo(x + size, 2 + size * 2);
      c.moveTo(x + size, 2);
      c.lineTo(x - size, 2 + size * 2);
      c.stroke();
  }
}

function drawAxis(
  c: CanvasRenderingContext2D,
  picture: StripPicture,
  bottom: number,
  x: (m: number) => number,
  colours: StripColours,
): void {
  c.strokeStyle = colours.line;
  c.beginPath();
  c.moveTo(0, bottom + 0.5);
  c.lineTo(picture.width, bottom + 0.5);
  c.stroke();
  const { at, step } = ticksOf(picture.range.from, picture.range.to, Math.max(2, Math.floor(picture.width / 96)));
  c.font = `12px ${colours.font}`;
  c.textBaseline = 'top';
  c.fillStyle = colours.quiet;
  for (const tick of at) {
    const text = formatTick(tick, picture.zone, step);
    const wide = c.measureText(text).width;
    const left = Math.max(2, Math.min(picture.width - wide - 2, x(tick) - wide / 2));
    c.fillText(text, left, bottom + 4);
    c.fillRect(Math.round(x(tick)), bottom, 1, 3);
  }
}
