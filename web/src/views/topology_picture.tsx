// The map of a topology on a canvas: a square a host, filled from below by use. Pointing at one tells of it; the table of all domains is for
// who does not see the picture.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { DomainNode, Fit, TopologyMap } from '../api/types.js';
import { hit, layOut, walk, type Laid, type Layout } from '../draw/squares.js';
import { darkNow, select, selected } from '../state/store.js';
import { formatCount, shortened, visible } from '../ui/format.js';
import { countHosts, domainSentence, useOf, wouldGet } from './topology_domains.js';
import { useWidth } from './use_width.js';

interface Props {
  map: TopologyMap;
  resource: number; // index; -1: the one used most
  fit: Fit | undefined;
  under: string[]; // of which domain this is a part
  onUnder: (path: string[]) => void; // what lies below this domain is wanted
  lit: boolean; // pods of a gang are there: all else steps back
}

const wantedHeight = 560;

export function TopologyPicture({ map, under, onUnder, resource, fit, lit }: Props) {
  const { ref, width } = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointed = useSignal<Laid<DomainNode>[]>([]);
  const layout = useMemo(() => (width.value > 0 ? layOut(map.domains, width.value, wantedHeight) : undefined), [map.domains, width.value]);
  const would = useMemo(() => wouldGet(fit?.domains ?? []), [fit]);
  const chosen = selected.value?.kind === 'Node' ? selected.value.name : undefined;
  const isHostname = map.levels[map.levels.length - 1] === 'kubernetes.io/hostname';

  // All squares are painted once; what moves with the pointer is drawn over a copy of them.
  const painted = useRef<HTMLCanvasElement | undefined>(undefined);
  useEffect(() => {
    pointed.value = []; // another moment has other squares
  }, [layout]);
  useEffect(() => {
    if (!canvas.current || !layout) return;
    painted.current = paint(canvas.current, layout, { resource, would, under, lit });
    show(canvas.current, painted.current, layout, pointed.peek(), chosen);
  }, [layout, resource, would, lit, darkNow.value]);
  useEffect(() => {
    if (canvas.current && painted.current && layout) show(canvas.current, painted.current, layout, pointed.value, chosen);
  }, [pointed.value, chosen]);

  const at = (event: MouseEvent): Laid<DomainNode>[] => {
    const box = canvas.current?.getBoundingClientRect();
    return box && layout ? hit(layout, event.clientX - box.left, event.clientY - box.top) : [];
  };
  const path = pointed.value;
  const last = path[path.length - 1]?.node;

  return (
    <figure class="topology-picture" ref={ref}>
      <p class="pointed" aria-hidden="true">
        {last ? (
          <>
            {path.map((laid, i) => (
              <span key={i}>{i > 0 && ' › '}<bdi>{shortened(visible(laid.node.name), 48)}</bdi></span>
            ))}
            <span class="nothing">: {domainSentence(last, map.resources, would.get([...under, ...path.map((l) => l.node.name)].join('\n')) ?? 0)}</span>
          </>
        ) : (
          <span class="nothing">Point at a square to see what it is.</span>
        )}
      </p>
      <div class="topology-canvas">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Map of ${formatCount(countHosts(map.domains))} domains of the lowest level, filled by use; the table below lists them`}
          onMouseMove={(event) => {
            const next = at(event);
            if (next[next.length - 1] !== pointed.peek()[pointed.peek().length - 1]) pointed.value = next;
          }}
          onMouseLeave={() => (pointed.value = [])}
          onClick={(event) => {
            const there = at(event);
            const node = there[there.length - 1]?.node;
            if (!node || node.children?.length) return;
            if (under.length + there.length < map.levels.length) onUnder([...under, ...there.map((l) => l.node.name)]);
            else if (isHostname) select({ kind: 'Node', name: node.name });
          }}
        />
      </div>
      <figcaption class="topology-legend">
        <span><i class="host host-0" aria-hidden="true" />free</span>
        <span><i class="host host-50" aria-hidden="true" />half in use</span>
        <span><i class="host host-100" aria-hidden="true" />full</span>
        <span><i class="host host-out" aria-hidden="true" />not ready</span>
        {lit && <span><i class="host host-gang" aria-hidden="true" />the gang</span>}
        {would.size > 0 && <span><i class="host host-would" aria-hidden="true" />where it would go</span>}
      </figcaption>
    </figure>
  );
}

interface Look {
  resource: number;
  would: ReadonlyMap<string, number>;
  under: string[];
  lit: boolean;
}

interface Colours {
  ink: string;
  faint: string;
  line: string;
  paper: string;
  panel: string;
  use: string;
  gang: string;
  bad: string;
  font: string;
}

/** The page's colours and font where the canvas stands. */
function coloursOf(canvas: HTMLCanvasElement): Colours {
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    ink: colour('--ink'), faint: colour('--ink-3'), line: colour('--line'), paper: colour('--paper'), panel: colour('--paper-2'),
    use: colour('--own'), gang: colour('--accent'), bad: colour('--bad'), font: style.fontFamily,
  };
}

/** All squares, on a canvas that is not shown. */
function paint(shown: HTMLCanvasElement, layout: Layout<DomainNode>, look: Look): HTMLCanvasElement {
  const ratio = devicePixelRatio || 1;
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(Math.ceil(layout.width) * ratio);
  canvas.height = Math.ceil(Math.ceil(layout.height) * ratio);
  const context = canvas.getContext('2d');
  if (!context) return canvas;
  context.scale(ratio, ratio);
  const colours = coloursOf(shown);
  for (const laid of walk(layout.top)) {
    if (laid.children.length > 0) paintDomain(context, laid, layout.host, colours);
    else paintHost(context, laid, look, colours);
  }
  if (look.would.size > 0) paintWould(context, layout.top, look.under, look.would, colours);
  return canvas;
}

/** The squares, with outlines around the one that is pointed at and the one that is selected. */
function show(canvas: HTMLCanvasElement, painted: HTMLCanvasElement, layout: Layout<DomainNode>, pointed: readonly Laid<DomainNode>[], chosen: string | undefined): void {
  if (canvas.width !== painted.width || canvas.height !== painted.height) {
    canvas.width = painted.width;
    canvas.height = painted.height;
    canvas.style.width = `${Math.ceil(layout.width)}px`;
    canvas.style.height = `${Math.ceil(layout.height)}px`;
  }
  const context = canvas.getContext('2d');
  if (!context) return;
  const ratio = devicePixelRatio || 1;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(painted, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const colours = coloursOf(canvas);
  const last = pointed[pointed.length - 1];
  if (last) outline(context, last, colours.ink, 1.5);
  if (chosen === undefined) return;
  for (const laid of walk(layout.top)) if (laid.children.length === 0 && laid.node.name === chosen) outline(context, laid, colours.gang, 2);
}

function outline(context: CanvasRenderingContext2D, laid: Laid<DomainNode>, colour: string, thick: number): void {
  const { x, y, width, height } = laid.box;
  context.strokeStyle = colour;
  context.lineWidth = thick;
  context.strokeRect(x - thick / 2 + 0.5, y - thick / 2 + 0.5, width + thick - 1, height + thick - 1);
}

function paintDomain(context: CanvasRenderingContext2D, laid: Laid<DomainNode>, host: number, colours: Colours): void {
  const { x, y, width, height } = laid.box;
  context.fillStyle = laid.depth % 2 === 0 ? colours.panel : colours.paper;
  context.fillRect(x, y, width, height);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.round(width) - 1, Math.round(height) - 1);
  const head = (laid.rows[0]?.y ?? y) - y;
  if (head < 13 || width < 20) return;
  context.font = `${host >= 8 ? 11 : 10}px ${colours.font}`;
  context.fillStyle = colours.faint;
  context.textBaseline = 'middle';
  context.direction = 'ltr';
  const name = visible(laid.node.name);
  const letters = Math.floor((width - 8) / 6);
  if (letters >= 2) context.fillText(`\u2068${shortened(name, letters)}\u2069`, x + 4, y + head / 2 + 0.5, width - 6);
}

function paintHost(context: CanvasRenderingContext2D, laid: Laid<DomainNode>, look: Look, colours: Colours): void {
  const { x, y, width, height } = laid.box;
  const { node } = laid;
  const use = Math.max(0, Math.min(1000, useOf(node, look.resource))) / 1000;
  const gap = width >= 8 ? 1 : 0.5; // between neighbours
  const w = width - 2 * gap;
  const h = height - 2 * gap;
  context.globalAlpha = look.lit && !node.gang ? 0.55 : 1;
  context.fillStyle = colours.paper;
  context.fillRect(x + gap, y + gap, w, h);
  context.fillStyle = colours.use;
  if (width >= 8) {
    context.fillRect(x + gap, y + gap + h * (1 - use), w, h * use);
  } else {
    // Too small for a level to be seen: the whole square gets darker.
    const alpha = context.globalAlpha;
    context.globalAlpha = alpha * (0.14 + 0.86 * use);
    context.fillRect(x + gap, y + gap, w, h);
    context.globalAlpha = alpha;
  }
  if (width >= 8) {
    context.strokeStyle = node.ready ? colours.faint : colours.bad;
    context.lineWidth = 1;
    context.strokeRect(x + gap + 0.5, y + gap + 0.5, w - 1, h - 1);
  }
  if (!node.ready) {
    context.strokeStyle = colours.bad;
    context.lineWidth = width >= 8 ? 1.5 : 1;
    context.beginPath();
    context.moveTo(x + gap, y + gap);
    context.lineTo(x + gap + w, y + gap + h);
    context.moveTo(x + gap + w, y + gap);
    context.lineTo(x + gap, y + gap + h);
    context.stroke();
  }
  if (node.gang) {
    context.globalAlpha = 1;
    outline(context, laid, colours.gang, width >= 12 ? 3 : 2);
    if (width >= 20) {
      context.font = `600 ${Math.min(13, width * 0.5)}px ${colours.font}`;
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      const text = String(node.gang);
      const room = Math.max(14, text.length * 8 + 4);
      context.fillStyle = colours.paper;
      context.fillRect(x + width / 2 - room / 2, y + height / 2 - 8, room, 16);
      context.fillStyle = colours.gang;
      context.fillText(text, x + width / 2, y + height / 2 + 1);
      context.textAlign = 'start';
    }
  }
  context.globalAlpha = 1;
}

/** Dashed outlines around the lowest domains that a gang would go to. */
function paintWould(context: CanvasRenderingContext2D, laid: Laid<DomainNode>, above: string[], would: ReadonlyMap<string, number>, colours: Colours): void {
  for (const child of laid.children) {
    const path = [...above, child.node.name];
    if (!would.has(path.join('\n'))) continue;
    if (child.children.length > 0) {
      paintWould(context, child, path, would, colours);
      continue;
    }
    context.setLineDash([3, 2]);
    outline(context, child, colours.ink, 2);
    context.setLineDash([]);
  }
}
