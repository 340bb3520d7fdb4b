// Curves over time with axes: uPlot in the page's colours.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { theme, zone } from '../state/store.js';
import { formatTick, formatExact, timeOf } from './format.js';

export interface PlotProps {
  label: string;
  time: number[]; // microseconds
  series: { label: string; values: (number | null)[]; dash?: number[]; colour?: '--accent' | '--warn' | '--good' | '--ink-2' }[];
  height: number;
  mark?: number; // microseconds: the slider's line
  format?: (value: number) => string;
  onMove?: (micros: number) => void; // a click
}

export function Plot({ label, time, series, height, mark, format = (v) => v.toLocaleString('en-US'), onMove }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const markAt = useRef(mark);
  markAt.current = mark;
  const look = theme.value;
  const where = zone.value;
  const shape = series.map((s) => `${s.label}|${s.colour}|${s.dash}`).join(';');

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--ink-3'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
      font: `12px ${style.fontFamily}`,
    };
    const drawMark = (u: uPlot) => {
      if (markAt.current === undefined) return;
      const x = u.valToPos(markAt.current / 1e6, 'x', true);
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
      u.ctx.save();
      u.ctx.strokeStyle = colour('--accent');
      u.ctx.lineWidth = devicePixelRatio;
      u.ctx.beginPath();
      u.ctx.moveTo(x, u.bbox.top);
      u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
      u.ctx.stroke();
      u.ctx.restore();
    };
    const made = new uPlot(
      {
        width: Math.max(80, element.clientWidth),
        height,
        cursor: { drag: { x: false, y: false }, points: { size: 5 } },
        legend: { live: true },
        scales: { x: { time: false }, y: { range: (_u, _low, high) => [0, Math.max(1, high ?? 1) * 1.08] } },
        axes: [
          {
            ...axis,
            size: 24,
            gap: 4,
            space: 88,
            values: (_u, at) => at.map((t) => formatTick(t * 1e6, where, Math.max(1, ((at[1] ?? t) - (at[0] ?? t)) * 1e6))),
          },
          { ...axis, size: 56, gap: 4, values: (_u, at) => at.map(format) },
        ],
        series: [
          { label: 'Time', value: (_u, t) => (t === null ? '–' : formatExact(timeOf(t * 1e6), where)) },
          ...series.map((s): uPlot.Series => ({
            label: s.label,
            stroke: colour(s.colour ?? '--accent'),
            width: 1.5,
            ...(s.dash ? { dash: s.dash } : {}),
            points: { show: false },
            spanGaps: false,
            paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
            value: (_u, v) => (v === null ? '–' : format(v)),
          })),
        ],
        hooks: { draw: [drawMark] },
      },
      dataOf(time, series),
      element,
    );
    plot.current = made;
    const click = () => {
      const at = made.cursor.left;
      if (onMove && at !== undefined && at >= 0) onMove(made.posToVal(at, 'x') * 1e6);
    };
    made.over.addEventListener('click', click);
    const watch = new ResizeObserver(() => made.setSize({ width: Math.max(80, element.clientWidth), height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [shape, height, look, where]);

  useEffect(() => plot.current?.setData(dataOf(time, series)), [time, series]);
  useEffect(() => plot.current?.redraw(false), [mark]);
  return <div class="plot" ref={box} role="img" aria-label={label} />;
}

function dataOf(time: number[], series: PlotProps['series']): uPlot.AlignedData {
  return [time.map((t) => t / 1e6), ...series.map((s) => s.values)] as uPlot.AlignedData;
}
