// The picture of the preemptions. The table below it says the same, so it is one image to a screen reader.
import { useMemo, useRef } from 'preact/hooks';
import type { Preemption } from '../api/types.js';
import { busiestLanes, drawArcs, type ArcInput, type DrawnArc } from '../draw/arcs.js';
import { moveTo, place, zone } from '../state/store.js';
import { formatDuration, formatTick, microsOf, plural, shortened, ticksOf, visible } from '../ui/format.js';
import { useWidth } from './use_width.js';

const mostLanes = 24;
const axisHeight = 28;

export function PreemptionArcs({ items, opened, onOpen }: { items: Preemption[]; opened: Preemption | undefined; onOpen: (item: Preemption) => void }) {
  const { ref, width } = useWidth<HTMLDivElement>();
  const area = useRef<SVGSVGElement>(null);
  const wide = width.value;
  const names = wide < 560 ? 0 : 136; // lanes are named above themselves where there is no room beside
  const inputs = useMemo(
    () => items.map((item): ArcInput => ({ time: microsOf(item.time), from: item.preemptorQueue, to: item.victimQueue, lost: item.lostMicros ?? 0 })),
    [items],
  );
  const { lanes, leftOut } = useMemo(() => busiestLanes(inputs, mostLanes), [inputs]);
  const [first, last] = useMemo(() => spanOf(inputs), [inputs]);
  const plotWidth = Math.max(40, wide - names - 56); // room for the bows at the right
  const xOf = (time: number): number => names + 8 + ((time - first) / (last - first)) * (plotWidth - 8);
  const picture = useMemo(() => (wide > 0 ? drawArcs(inputs, lanes, xOf, names ? 0 : 12) : undefined), [inputs, lanes, wide]);
  const ticks = ticksOf(first, last, Math.max(1, Math.floor(plotWidth / 96)));
  const now = microsOf(place.value.time);
  const nowX = now >= first && now <= last ? xOf(now) : undefined;
  const height = (picture?.height ?? 120) + axisHeight;

  const itemAt = (event: MouseEvent): Preemption | undefined => {
    const box = area.current?.getBoundingClientRect();
    if (!box || !picture) return undefined;
    const arc = nearest(picture.arcs, event.clientX - box.left, event.clientY - box.top);
    return arc && items[arc.index];
  };

  return (
    <figure class={`arcs${items.length > 80 ? ' many' : ''}`} ref={ref}>
      <svg
        ref={area}
        width={Math.max(wide, 1)}
        height={height}
        role="img"
        aria-label={`${plural(items.length, 'preemption')} among ${plural(lanes.length, 'ClusterQueue')} over time; the table below lists them`}
        onClick={(event) => {
          const item = itemAt(event);
          if (item) onOpen(item);
        }}
      >
        {picture?.lanes.map((lane) => (
          <g key={lane.name}>
            <line class="arc-lane" x1={0} x2={wide} y1={lane.y + lane.height - 0.5} y2={lane.y + lane.height - 0.5} />
            <text class="arc-lane-name" x={0} y={lane.y + (names ? 18 : 11)} direction="ltr">
              <title>{visible(lane.name)}</title>
              {isolated(shortened(visible(lane.name), names ? 18 : 32))}
            </text>
          </g>
        ))}
        {ticks.at.map((time) => (
          <g key={time}>
            <line class="arc-tick" x1={xOf(time)} x2={xOf(time)} y1={0} y2={height - axisHeight} />
            <text class="arc-time" x={xOf(time)} y={height - 10} text-anchor="middle">{formatTick(time, zone.value, ticks.step)}</text>
          </g>
        ))}
        {nowX !== undefined && <line class="arc-now" x1={nowX} x2={nowX} y1={0} y2={height - axisHeight} />}
        {picture?.arcs.map((arc) => {
          const item = items[arc.index]!;
          const isOpen = item === opened;
          return (
            <g key={arc.index} class={`arc${isOpen ? ' opened' : ''}${item.preemptorQueue === item.victimQueue ? ' within' : ''}`}>
              <title>{titleOf(item)}</title>
              {arc.x - arc.lostFrom >= 1 && <rect class="arc-lost" x={arc.lostFrom} y={arc.lostY - 2} width={arc.x - arc.lostFrom} height={4} />}
              <path class="arc-hit" d={arc.path} />
              <path class="arc-line" d={arc.path} />
              <circle class="arc-from" cx={arc.x} cy={arc.fromY} r={3} />
              <path class="arc-to" d={`M${arc.x - 3.5} ${arc.toY - 3.5}l7 7m0 -7l-7 7`} />
            </g>
          );
        })}
      </svg>
      <figcaption class="arcs-legend">
        <span><i class="sign-from" aria-hidden="true" />preemptor, at the decision</span>
        <span><i class="sign-to" aria-hidden="true">×</i>victim</span>
        <span><i class="sign-lost" aria-hidden="true" />its lost work</span>
        {leftOut > 0 && <span>{plural(leftOut, 'ClusterQueue')} with fewer of them are not drawn</span>}
        {opened && (
          <button class="link" onClick={() => moveTo(opened.position, { time: opened.time })}>
            go to the moment of the opened one
          </button>
        )}
      </figcaption>
    </figure>
  );
}

/** From the first moment that is drawn to the last, with a little air. */
function spanOf(inputs: readonly ArcInput[]): [number, number] {
  let first = Infinity;
  let last = -Infinity;
  for (const input of inputs) {
    first = Math.min(first, input.time - input.lost);
    last = Math.max(last, input.time);
  }
  if (!(last > first)) return [first - 500_000, first + 500_000];
  return [first, last + (last - first) * 0.01];
}

/** The arc whose ends or middle are nearest, at most 10 pixels away. */
function nearest(arcs: readonly DrawnArc[], x: number, y: number): DrawnArc | undefined {
  let best: DrawnArc | undefined;
  let least = 10;
  for (const arc of arcs) {
    const top = Math.min(arc.fromY, arc.toY);
    const bottom = Math.max(arc.fromY, arc.toY);
    const outside = Math.max(0, top - y, y - bottom);
    const part = bottom > top ? Math.min(1, Math.max(0, (y - top) / (bottom - top))) : 0.5;
    const bowed = arc.x + 4 * part * (1 - part) * arc.bow * 0.75;
    const onTail = y > arc.lostY - 6 && y < arc.lostY + 6 && x >= arc.lostFrom && x <= arc.x;
    const distance = onTail ? 0.5 : Math.hypot(Math.min(Math.abs(x - bowed), Math.abs(x - arc.x) + outside), outside);
    if (distance < least) {
      least = distance;
      best = arc;
    }
  }
  return best;
}

/** SVG text knows no <bdi>: the characters that isolate do the same. */
const isolated = (text: string): string => `\u2068${text}\u2069`;

function titleOf(item: Preemption): string {
  const name = (ref: Preemption['victim']): string => isolated(visible(`${ref.namespace ?? ''}/${ref.name}`));
  const lost = item.lostMicros ? `, ${formatDuration(item.lostMicros / 1000)} of work lost` : '';
  return `${name(item.preemptor)} of ${isolated(visible(item.preemptorQueue))}\nmade room by taking ${name(item.victim)} of ${isolated(visible(item.victimQueue))}\n${item.reason}${lost}\nrecord ${item.position}`;
}
