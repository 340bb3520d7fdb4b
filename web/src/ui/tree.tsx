// JSON as a tree that can be folded. Every text in it came from outside.
import { useState } from 'preact/hooks';
import { visible } from './format.js';

const mostShown = 200; // members of one object or list at first

export function Tree({ of, open = 2, label = 'Decoded fields' }: { of: unknown; open?: number; label?: string }) {
  return (
    <div class="json" role="group" aria-label={label}>
      <Node value={of} depth={0} open={open} />
    </div>
  );
}

function Node({ name, value, depth, open }: { name?: string; value: unknown; depth: number; open: number }) {
  const [unfolded, setUnfolded] = useState(depth < open);
  const [all, setAll] = useState(false);
  const key = name === undefined ? null : <bdi class="json-key">{visible(name)}</bdi>;
  if (value === null || typeof value !== 'object' || depth > 60) {
    return (
      <div class="json-line">
        {key}
        <bdi class={`json-value json-${value === null ? 'null' : typeof value}`}>
          {typeof value === 'string' ? visible(value) : typeof value === 'object' && value !== null ? '…' : String(value)}
        </bdi>
      </div>
    );
  }
  const list = Array.isArray(value);
  const members = Object.entries(value);
  const what = list ? `${members.length} ${members.length === 1 ? 'item' : 'items'}` : members.length === 0 ? 'empty' : '';
  const body = (all ? members : members.slice(0, mostShown)).map(([k, v]) => (
    <Node key={k} name={k} value={v} depth={depth + 1} open={open} />
  ));
  if (name === undefined)
    return (
      <>
        {body}
        {members.length === 0 && <div class="json-line json-null">empty</div>}
      </>
    );
  return (
    <div class="json-node">
      <button class="json-fold" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
        <span aria-hidden="true">{unfolded ? '▾' : '▸'}</span>
        {key}
        <span class="json-what">{what}</span>
      </button>
      {unfolded && (
        <div class="json-inside">
          {body}
          {!all && members.length > mostShown && (
            <button class="link" onClick={() => setAll(true)}>
              {members.length - mostShown} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}
