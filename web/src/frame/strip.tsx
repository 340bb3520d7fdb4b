// The strip: the whole history, and where one is in it. A click goes to a moment, a drag on the line moves through time, a drag across the
// picture zooms into a stretch; the wheel and two fingers zoom, and what is zoomed has its own scale below the whole.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Mark, Timeline } from '../api/types.js';
import * as store from '../state/store.js';
import { original, part, placeMicros, range, recordAt, timelineMessage, whole } from '../state/timeline.js';
import { clamp, indexBefore, rangeOf, shifted, zoomed, type Range } from '../state/timescale.js';
import { formatCount, formatDuration, formatPerMille, formatTime, plural, timeOf, visible } from '../ui/format.js';
import { drawStrip, type StripColours } from './strip_draw.js';
import { step, toEdge } from './step.js';

const leastRange = 1000; // microseconds
const near = 8; // px around the slider's line that take hold of it

export function Strip() {
  const all = whole.value;
  if (!all)
    return (
      <div class="strip strip-empty" role="status">
        {timelineMessage.value ? (
          `The history cannot be drawn: ${timelineMessage.value}`
        ) : (
          <span class="unseen">The history is being read.</span>
        )}
      </div>
    );
  return <StripOf all={all} />;
}

function StripOf({ all }: { all: Timeline }) {
  const span = useMemo(() => rangeOf(all), [all]);
  const view = range.value ?? span;
  const isZoomed = !!range.value;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [over, setOver] = useState<number | undefined>();
  const [stretch, setStretch] = useState<Range | undefined>();
  const now = placeMicros.value;
  const inside = now >= view.from && now <= view.to;
  const x = clamp(((now - view.from) / (view.to - view.from)) * width, 0, width);
  const timelines = part.value && isZoomed ? [all, part.value] : [all];

  const state = useRef({ view, span, width, x });
  state.current = { view, span, width, x };
  useGestures(box, state, setOver, setStretch);

  const time = store.place.value.time || timeOf(now);
  const told = `${formatTime(time, store.zone.value)}, record ${formatCount(store.place.value.position)} of ${formatCount(store.log.value?.latest.position ?? 0)}${store.at.value === 'now' ? ', following now' : ''}`;
  const toX = (micros: number) => ((micros - view.from) / (view.to - view.from)) * width;

  return (
    <div class="strip">
      {isZoomed && <Whole all={all} span={span} view={view} />}
      <div class="strip-body" ref={box}>
        <Canvas timelines={timelines} view={view} width={width} height={72} axis />
        {stretch && (
          <div class="strip-stretch" style={{ left: `${toX(stretch.from)}px`, width: `${toX(stretch.to) - toX(stretch.from)}px` }} />
        )}
        {inside && <div class="strip-now" style={{ transform: `translateX(${x.toFixed(1)}px)` }} aria-hidden="true" />}
        <div
          class={`strip-handle${inside ? '' : ' away'}`}
          style={{ transform: `translateX(${x.toFixed(1)}px)` }}
          role="slider"
          tabIndex={0}
          aria-label="Moment"
          aria-valuemin={all.from.position}
          aria-valuemax={Math.max(all.to.position, store.log.value?.latest.position ?? 0)}
          aria-valuenow={store.place.value.position}
          aria-valuetext={told}
          onKeyDown={onSliderKey}
        />
        {over !== undefined && <Hint timelines={timelines} x={over} view={view} width={width} />}
      </div>
      <div class="strip-foot">
        <ul class="strip-legend" aria-label="What the strip shows">
          <li>
            <span class="sign sign-used" aria-hidden="true" />
            used of nominal
          </li>
          <li>
            <span class="sign sign-wait" aria-hidden="true" />
            waiting{store.branch.value && original.value ? ' (dashed: what was)' : ''}
          </li>
          <li>
            <span aria-hidden="true" class="sign-bad">
              ▾
            </span>
            eviction
          </li>
          <li>
            <span aria-hidden="true" class="sign-accent">
              ▴
            </span>
            configuration
          </li>
          {all.silences.length > 0 && (
            <li>
              <span class="sign sign-silence" aria-hidden="true" />
              nobody decided
            </li>
          )}
        </ul>
        {all.whyNotMore && (
          <span class="strip-note" role="status">
            The history is drawn up to record {formatCount(all.scannedTo)}: {visible(all.whyNotMore)}
          </span>
        )}
        {!all.complete && !all.whyNotMore && (
          <span class="strip-note" role="status">
            The history is read up to record {formatCount(store.indexed.value?.scannedTo ?? all.scannedTo)} of{' '}
            {formatCount(store.indexed.value?.of ?? store.log.value?.latest.position ?? 0)}.
          </span>
        )}
        {isZoomed && (
          <span class="strip-note">
            {formatDuration((view.to - view.from) / 1000)} in view.{' '}
            <button class="link" onClick={() => (range.value = undefined)}>
              Show all
            </button>
          </span>
        )}
      </div>
    </div>
  );
}

/** The whole above the part in view, with the part as a window that can be moved. */
function Whole({ all, span, view }: { all: Timeline; span: Range; view: Range }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const x = (micros: number) => ((micros - span.from) / (span.to - span.from)) * width;
  const held = useRef<{ x: number; view: Range } | undefined>(undefined);
  const now = placeMicros.value;
  return (
    <div
      class="strip-whole"
      ref={box}
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = span.from + (event.offsetX / Math.max(1, width)) * (span.to - span.from);
        const length = view.to - view.from;
        const begin = at >= view.from && at <= view.to ? view : shifted({ from: at - length / 2, to: at + length / 2 }, span, 0);
        held.current = { x: event.clientX, view: begin };
        range.value = begin;
      }}
      onPointerMove={(event) => {
        if (held.current)
          range.value = shifted(held.current.view, span, ((event.clientX - held.current.x) / Math.max(1, width)) * (span.to - span.from));
      }}
      onPointerUp={() => (held.current = undefined)}
      onPointerCancel={() => (held.current = undefined)}
    >
      <Canvas timelines={[all]} view={span} width={width} height={28} axis={false} />
      <div class="strip-shade" style={{ left: 0, width: `${x(view.from)}px` }} />
      <div class="strip-window" style={{ left: `${x(view.from)}px`, width: `${Math.max(3, x(view.to) - x(view.from))}px` }} />
      <div class="strip-shade" style={{ left: `${x(view.to)}px`, right: 0 }} />
      {Number.isFinite(now) && <div class="strip-now" style={{ transform: `translateX(${x(now)}px)` }} />}
    </div>
  );
}

function Canvas({
  timelines,
  view,
  width,
  height,
  axis,
}: {
  timelines: Timeline[];
  view: Range;
  width: number;
  height: number;
  axis: boolean;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const look = store.theme.value;
  const dark = store.darkNow.value;
  const zone = store.zone.value;
  const ghost = original.value;
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width < 1) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawStrip(context, { width, height, range: view, timelines, zone, axis, ...(ghost ? { ghost } : {}) }, coloursOf(element));
  }, [timelines[0], timelines.at(-1), view.from, view.to, width, height, look, dark, zone, ghost, axis]);
  return <canvas ref={canvas} class="strip-canvas" aria-hidden="true" style={{ height: `${height}px` }} />;
}

function coloursOf(element: Element): StripColours {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: of('--ink'),
    quiet: of('--ink-3'),
    line: of('--line-2'),
    paper: of('--paper'),
    used: of('--strip-used'),
    usedLine: of('--strip-used-line'),
    wait: of('--strip-wait'),
    bad: of('--bad'),
    accent: of('--accent'),
    font: style.fontFamily,
  };
}

/** What the columns tell of the time under the pointer: at once, without asking. */
function Hint({ timelines, x, view, width }: { timelines: Timeline[]; x: number; view: Range; width: number }) {
  const micros = view.from + (x / Math.max(1, width)) * (view.to - view.from);
  const timeline = [...timelines].reverse().find((t) => micros >= rangeOf(t).from && micros <= rangeOf(t).to);
  if (!timeline) return null;
  const i = indexBefore(timeline.time, micros);
  const reach = ((view.to - view.from) / Math.max(1, width)) * 5;
  const marks = timeline.marks.filter((m: Mark) => Math.abs(m.time - micros) <= reach).slice(0, 4);
  const used = timeline.used[i];
  const waiting = timeline.waiting[i];
  const running = timeline.running[i];
  return (
    <div
      class={`strip-hint${x > width / 2 ? ' left' : ''}`}
      style={x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` }}
      aria-hidden="true"
    >
      <b>{formatTime(timeOf(micros), store.zone.value)}</b>
      <span>
        {typeof used === 'number' ? `${formatPerMille(used)} used` : 'use unknown'}
        {typeof waiting === 'number' && `, ${formatCount(waiting)} waiting`}
        {typeof running === 'number' && `, ${formatCount(running)} running`}
      </span>
      {marks.map((mark) => (
        <span key={`${mark.kind}${mark.position}`} class="strip-hint-mark">
          <bdi>{visible(mark.text)}</bdi>
          {mark.count > 1 && !mark.text.includes(String(mark.count)) && ` (${plural(mark.count, 'time')})`}
        </span>
      ))}
    </div>
  );
}

interface Now {
  view: Range;
  span: Range;
  width: number;
  x: number;
}

function useGestures(
  box: { current: HTMLDivElement | null },
  now: { current: Now },
  setOver: (x: number | undefined) => void,
  setStretch: (r: Range | undefined) => void,
): void {
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const fingers = new Map<number, number>();
    let mode: 'none' | 'slide' | 'stretch' | 'pinch' = 'none';
    let begin = 0;
    let pinched: { about: number; apart: number; view: Range } | undefined;
    const xOf = (event: { clientX: number }) => event.clientX - element.getBoundingClientRect().left;
    const timeAt = (x: number) =>
      now.current.view.from +
      (clamp(x, 0, now.current.width) / Math.max(1, now.current.width)) * (now.current.view.to - now.current.view.from);
    const slideTo = (x: number, settled: boolean) => {
      const micros = timeAt(x);
      const atEnd = x >= now.current.width - 1 && now.current.view.to >= now.current.span.to;
      const position = recordAt(micros);
      if (atEnd) store.moveTo('now', { settled });
      else if (position !== undefined) store.moveTo(position, { time: timeOf(micros), settled });
    };
    const set = (view: Range) => {
      const { span } = now.current;
      range.value = view.to - view.from >= (span.to - span.from) * 0.999 ? undefined : view;
    };
    const onDown = (event: PointerEvent) => {
      if (event.button !== 0) return;
      const x = xOf(event);
      const y = event.clientY - element.getBoundingClientRect().top;
      fingers.set(event.pointerId, x);
      try {
        element.setPointerCapture(event.pointerId);
      } catch {
        // The pointer is gone already.
      }
      if (fingers.size === 2) {
        const [a = 0, b = 0] = [...fingers.values()];
        mode = 'pinch';
        setStretch(undefined);
        pinched = { about: timeAt((a + b) / 2), apart: Math.max(8, Math.abs(a - b)), view: now.current.view };
        return;
      }
      begin = x;
      const onLine = Math.abs(x - now.current.x) <= near;
      mode = onLine || y > element.clientHeight - 22 || event.pointerType === 'touch' ? 'slide' : 'stretch';
      if (mode === 'slide' && !onLine) slideTo(x, false);
    };
    const onMove = (event: PointerEvent) => {
      const x = xOf(event);
      if (event.pointerType !== 'touch') setOver(x >= 0 && x <= now.current.width ? x : undefined);
      if (!fingers.has(event.pointerId)) return;
      fingers.set(event.pointerId, x);
      if (mode === 'slide') slideTo(x, false);
      else if (mode === 'stretch' && Math.abs(x - begin) > 4)
        setStretch({ from: timeAt(Math.min(begin, x)), to: timeAt(Math.max(begin, x)) });
      else if (mode === 'pinch' && pinched) {
        const [a = 0, b = 0] = [...fingers.values()];
        set(zoomed(pinched.view, now.current.span, pinched.about, pinched.apart / Math.max(8, Math.abs(a - b)), leastRange));
      }
    };
    const onUp = (event: PointerEvent) => {
      const x = xOf(event);
      if (!fingers.delete(event.pointerId)) return;
      if (mode === 'slide') slideTo(x, true);
      else if (mode === 'stretch') {
        if (Math.abs(x - begin) <= 4) slideTo(x, true);
        else
          set(
            zoomed(
              { from: timeAt(Math.min(begin, x)), to: timeAt(Math.max(begin, x)) },
              now.current.span,
              timeAt((begin + x) / 2),
              1,
              leastRange,
            ),
          );
      }
      setStretch(undefined);
      if (fingers.size === 0) mode = 'none';
    };
    const onCancel = (event: PointerEvent) => {
      fingers.delete(event.pointerId);
      mode = 'none';
      setStretch(undefined);
    };
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { view, span, width } = now.current;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      const delta = sideways ? event.deltaX || event.deltaY : event.deltaY;
      if (sideways) set(shifted(view, span, (delta / Math.max(1, width)) * (view.to - view.from)));
      else set(zoomed(view, span, timeAt(xOf(event)), Math.exp(clamp(delta, -200, 200) / 300), leastRange));
    };
    const onLeave = () => setOver(undefined);
    element.addEventListener('pointerdown', onDown);
    element.addEventListener('pointermove', onMove);
    element.addEventListener('pointerup', onUp);
    element.addEventListener('pointercancel', onCancel);
    element.addEventListener('pointerleave', onLeave);
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('pointermove', onMove);
      element.removeEventListener('pointerup', onUp);
      element.removeEventListener('pointercancel', onCancel);
      element.removeEventListener('pointerleave', onLeave);
      element.removeEventListener('wheel', onWheel);
    };
  }, []);
}

function onSliderKey(event: KeyboardEvent): void {
  const all = whole.peek();
  if (!all || event.ctrlKey || event.metaKey) return;
  const { from, to } = range.peek() ?? rangeOf(all);
  const leap = (to - from) / 10;
  const jump = (by: number) => {
    const position = recordAt(clamp(placeMicros.peek() + by, from, to));
    if (position !== undefined) store.moveTo(position);
  };
  if (event.key === 'PageUp') jump(leap);
  else if (event.key === 'PageDown') jump(-leap);
  else if (event.key === 'Home') toEdge('first');
  else if (event.key === 'End') toEdge('last');
  else if (event.key === 'ArrowUp') void step('forward');
  else if (event.key === 'ArrowDown') void step('back');
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setWidth(element.clientWidth);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return width;
}
