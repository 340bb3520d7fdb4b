// Lives over time: one lane a line, what happened in it as spans, and the slider's line through all of them.
import type { ObjectRef, Curve, Lane } from '../api/types.js';
import { place, zone } from '../state/store.js';
import { formatCount, formatDuration, formatTick, ticksOf } from './format.js';
import { Name, Ref } from './name.js';

interface LanesProps {
  lanes: Lane[];
  label: string;
  now: number; // microseconds: where the slider stands
  from?: number;
  to?: number;
  curve?: Curve; // drawn as a lane of its own above the others
  curveName?: string;
  onMove?: (position: number, micros: number) => void;
}

export function Lanes({ lanes, label, now, curve, curveName = 'place', onMove, ...range }: LanesProps) {
  const known = lanes.flatMap((lane) => lane.spans);
  const from = range.from ?? Math.min(...known.map((s) => s.from), ...(curve?.time.slice(0, 1) ?? []));
  const last = range.to ?? Math.max(...known.map((s) => (s.open ? Math.max(s.to, s.from) : s.to)), ...(curve?.time.slice(-1) ?? []));
  if (!Number.isFinite(from) || !Number.isFinite(last)) return null;
  const to = Math.max(last, from + 1);
  const percent = (micros: number) => Math.max(0, Math.min(100, ((micros - from) / (to - from)) * 100));
  const { at: ticks, step } = ticksOf(from, to, innerWidth < 720 ? 4 : 6);
  // A slider that stands a hair behind the last record stands at it.
  const inside = now >= from && now <= to + (to - from) / 200;
  return (
    <div class="lanes" role="group" aria-label={label}>
      {curve && curve.time.length > 0 && (
        <div class="lane lane-curve">
          <div class="lane-name">{curveName}</div>
          <div class="lane-track">
            <StepCurve curve={curve} percent={percent} end={to} />
          </div>
        </div>
      )}
      {lanes.map((lane, i) => (
        <div class="lane" key={`${lane.name}${i}`}>
          <div class="lane-name">{lane.of ? <Ref to={lane.of as ObjectRef} namespaced={false} /> : <Name text={lane.name} />}</div>
          <div class="lane-track">
            {lane.spans.map((span, j) => {
              const lasts = formatDuration((span.to - span.from) / 1000);
              const left = percent(span.from);
              const told = `${lane.name}: ${span.text}, ${lasts}${span.open ? ' so far' : ''}`;
              return (
                <button
                  key={j}
                  class={`span span-${lookOf(lane.name, span.kind)}${span.open ? ' open' : ''}`}
                  style={{ left: `${left}%`, width: `${Math.max(0, percent(span.to) - left)}%` }}
                  title={told}
                  aria-label={told}
                  onClick={() => onMove?.(span.position, span.from)}
                />
              );
            })}
          </div>
        </div>
      ))}
      <div class="lane lane-axis" aria-hidden="true">
        <div class="lane-name" />
        <div class="lane-track">
          {ticks
            .filter((t) => percent(t) > 3 && percent(t) < 95)
            .map((t) => (
              <span class="tick" key={t} style={{ left: `${percent(t)}%` }}>
                {formatTick(t, zone.value, step)}
              </span>
            ))}
        </div>
      </div>
      {lanes.some((lane) => lane.leftOut) && (
        <p class="lane-note">{formatCount(Math.max(...lanes.map((lane) => lane.leftOut ?? 0)))} earlier spans are left out.</p>
      )}
      {inside && (
        <div class="lane-over" aria-hidden="true">
          <div class="lane-now" style={{ left: `${percent(now)}%` }} />
        </div>
      )}
      {!inside && place.value.time && (
        <p class="lane-note">{now < from ? 'The slider stands before all of this.' : 'The slider stands behind all of this.'}</p>
      )}
    </div>
  );
}

const looks: Record<string, string> = {
  turn: 'waiting',
  quota: 'waiting',
  victims: 'waiting',
  othersReady: 'waiting',
  held: 'stopped',
  backOff: 'stopped',
  inactive: 'stopped',
  checks: 'checks',
  running: 'running',
  stopping: 'evicted',
  unknown: 'other',
};
/** In the lane of quota it is held; everywhere else "quota" is what it waits for. */
function lookOf(lane: string, kind: string): string {
  return lane === 'quota' ? 'reserved' : (looks[kind] ?? 'other');
}

function StepCurve({ curve, percent, end }: { curve: Curve; percent: (micros: number) => number; end: number }) {
  const known = curve.value.filter((v): v is number => v !== null);
  const top = Math.max(1, ...known);
  let line = '';
  curve.value.forEach((value, i) => {
    if (value === null) return;
    const x = percent(curve.time[i] ?? 0).toFixed(2);
    const y = (4 + (value / top) * 36).toFixed(2); // the head of the queue is above
    const until = percent(curve.time[i + 1] ?? end).toFixed(2);
    const joined = i > 0 && curve.value[i - 1] !== null;
    line += `${joined ? 'L' : 'M'}${x},${y}L${until},${y}`;
  });
  return (
    <svg
      class="lane-svg"
      viewBox="0 0 100 44"
      preserveAspectRatio="none"
      role="img"
      aria-label={`Position in the queue: ${formatCount(known[0] ?? 0)} at first, ${formatCount(known.at(-1) ?? 0)} at last; 0 is the head`}
    >
      <path d={line} class="spark-line" vector-effect="non-scaling-stroke" />
    </svg>
  );
}
