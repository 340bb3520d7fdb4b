// Sentences of the explanation with links to the objects they name.
import type { ObjectRef } from '../api/types.js';
import { hrefOf } from '../state/store.js';
import { visible } from '../ui/format.js';

// "its own ClusterQueue that holds" names none.
const queues =
  /(?<!\b(?:own|its|the|a|each|every|another) )\b(ClusterQueue|Cohort|Topology) (?!(?:that|and|or|is|now|of|to|in|has|which|with|whose)\b)([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)/g;

export interface Piece {
  text: string;
  ref?: ObjectRef;
}

/** Splits a sentence at the objects it names: workloads if `known` has them (NS/NAME), queues by their kind. Pure. */
export function piecesOf(text: string, known: ReadonlySet<string>): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  const wanted = [...known].filter((name) => name.includes('/') && text.includes(name)).sort((a, b) => b.length - a.length);
  if (wanted.length > 0) {
    const any = new RegExp(`(?<![\\w./-])(?:${wanted.map(escaped).join('|')})(?![\\w/-])`, 'g');
    for (const match of text.matchAll(any)) {
      pieces.push(...queuePieces(text.slice(from, match.index)));
      const slash = match[0].indexOf('/');
      pieces.push({ text: match[0], ref: { kind: 'Workload', namespace: match[0].slice(0, slash), name: match[0].slice(slash + 1) } });
      from = match.index + match[0].length;
    }
  }
  pieces.push(...queuePieces(text.slice(from)));
  return pieces;
}

function queuePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(queues)) {
    const [all, kind = '', name = ''] = match;
    const at = match.index + all.length - name.length;
    pieces.push({ text: text.slice(from, at) }, { text: name, ref: { kind, name } });
    from = at + name.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

export function Linked({ text, known }: { text: string; known: ReadonlySet<string> }) {
  return (
    <bdi>
      {piecesOf(text, known).map((piece, i) =>
        piece.ref ? (
          <a key={i} class="ref" href={hrefOf(piece.ref)}>
            {visible(piece.text)}
          </a>
        ) : (
          <span key={i}>{visible(piece.text)}</span>
        ),
      )}
    </bdi>
  );
}

/** All workloads that an explanation names in its fields. */
export function workloadsIn(value: unknown, found = new Set<string>(), depth = 0): Set<string> {
  if (depth > 12 || value === null || typeof value !== 'object') return found;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'workload' && typeof inner === 'string') found.add(inner);
    else if (name === 'evicted' || name === 'first' || name === 'before' || name === 'after') {
      if (Array.isArray(inner)) for (const one of inner) if (typeof one === 'string' && one.includes('/')) found.add(one);
    }
    if (typeof inner === 'object') workloadsIn(inner, found, depth + 1);
  }
  return found;
}
