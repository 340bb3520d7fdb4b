// What a view says when there is nothing to see. Each of its four sentences says what is, and what to do.
import type { ComponentChildren, JSX } from 'preact';
import type { Seen as SeenType } from '../api/client.js';

interface SaysProps {
  children: ComponentChildren;
  todo?: ComponentChildren;
}

function Says({ kind, children, todo }: SaysProps & { kind: string }) {
  return (
    <div class={`says says-${kind}`} role={kind === 'broken' ? 'alert' : 'status'}>
      <p>{children}</p>
      {todo && <p class="todo">{todo}</p>}
    </div>
  );
}

export const Empty = (props: SaysProps) => <Says kind="empty" {...props} />;
export const Broken = (props: SaysProps) => <Says kind="broken" {...props} />;
export const Forbidden = (props: SaysProps) => <Says kind="forbidden" {...props} />;
export const Absent = (props: SaysProps) => <Says kind="absent" {...props} />;

/** Grey bars of the final size, so that nothing jumps when the answer comes. */
export function Loading({ rows, height, children = 'Loading.' }: { rows?: number; height?: number; children?: ComponentChildren }) {
  return (
    <div class="loading" role="status" aria-busy="true">
      <span class="unseen">{children}</span>
      {height !== undefined ? (
        <div class="bone" style={{ height: `${height}px` }} />
      ) : (
        Array.from({ length: rows ?? 6 }, (_, i) => (
          <div class="bone-row" key={i}>
            <div class="bone" style={{ width: `${24 + ((i * 37) % 50)}%` }} />
          </div>
        ))
      )}
    </div>
  );
}

export interface Words {
  empty: ComponentChildren;
  emptyTodo?: ComponentChildren;
  loading?: string;
  forbidden?: ComponentChildren;
  broken?: ComponentChildren;
  absent?: ComponentChildren;
}

interface SeenProps<T> {
  of: SeenType<T>;
  words: Words;
  isEmpty?: (data: T) => boolean;
  skeleton?: { rows: number } | { height: number };
  children: (data: T) => JSX.Element;
}

/** The answer of a view, or the sentence that says why there is none. */
export function Seen<T>({ of, words, isEmpty, skeleton, children }: SeenProps<T>) {
  if (of.data !== undefined && of.state === 'ready') {
    if (isEmpty?.(of.data)) return <Empty todo={words.emptyTodo}>{words.empty}</Empty>;
    return (
      <div class={of.stale ? 'seen stale' : 'seen'} aria-busy={of.stale}>
        {children(of.data)}
      </div>
    );
  }
  switch (of.state) {
    case 'forbidden':
      return (
        <Forbidden todo={of.remedy ?? 'Ask whoever runs the cluster for "get" on the objects in their namespaces.'}>
          {words.forbidden ?? of.message}
        </Forbidden>
      );
    case 'absent':
      return <Absent todo={of.remedy ?? 'Move the slider to a moment at which it did.'}>{words.absent ?? of.message}</Absent>;
    case 'broken':
      return (
        <Broken
          todo={
            <>
              {of.remedy ?? 'Ask again in a moment.'}{' '}
              <button class="link" onClick={of.again}>
                Ask again
              </button>
            </>
          }
        >
          {words.broken} {of.message}
        </Broken>
      );
    default:
      return <Loading {...(skeleton ?? { rows: 8 })}>{words.loading ?? 'Loading.'}</Loading>;
  }
}
