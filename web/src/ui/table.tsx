// A table that draws only the rows that are seen: 100,000 rows cost as much as thirty.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

export const rowHeight = 32;
const spare = 8; // rows drawn above and below what is seen

export interface Column<R> {
  id: string;
  title: string;
  hint?: string; // hover of the head: how it is computed
  width?: number; // px
  grow?: number; // share of what is left; at least 120 px or `width`
  align?: 'right';
  sortable?: boolean;
  narrow?: boolean; // shown on a telephone; if no column says so, all are
  wide?: boolean; // left out where there is little room
  cell: (row: R) => ComponentChildren;
}

export interface TableProps<R> {
  label: string;
  columns: Column<R>[];
  total: number;
  row: (index: number) => R | undefined; // undefined: not there yet, a grey row
  rowKey: (row: R) => string;
  onRange?: (from: number, to: number) => void; // what is seen, to be loaded; `to` is behind the last
  onOpen?: (row: R) => void;
  onPick?: (row: R) => void; // an arrow key or a click came to it
  isSelected?: (row: R) => boolean;
  rowClass?: (row: R, index: number) => string | undefined;
  sort?: string;
  descending?: boolean;
  onSort?: (column: string) => void;
  height?: 'fill' | number; // default: fills the view; a number: at most so many px
  showIndex?: number; // scrolls there when it changes
}

export function Table<R>(props: TableProps<R>) {
  const { label, total, row, rowKey, onRange, onOpen, onPick, isSelected, rowClass, height = 'fill', showIndex } = props;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [seen, setSeen] = useState({ top: 0, height: 640, width: 1000 });
  const [active, setActive] = useState(-1);

  const narrow = seen.width < 600 && props.columns.some((c) => c.narrow);
  const columns = narrow ? props.columns.filter((c) => c.narrow) : seen.width < 860 ? props.columns.filter((c) => !c.wide) : props.columns;
  const template = columns
    .map((c) => (c.grow ? `minmax(${narrow ? 80 : (c.width ?? 120)}px, ${c.grow}fr)` : `${c.width ?? 96}px`))
    .join(' ');
  const leastWidth = columns.reduce((sum, c) => sum + (c.width ?? (c.grow ? (narrow ? 80 : 120) : 96)), 0);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () =>
      setSeen((s) =>
        s.top === element.scrollTop && s.height === element.clientHeight && s.width === element.clientWidth
          ? s
          : { top: element.scrollTop, height: element.clientHeight, width: element.clientWidth },
      );
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);

  const from = Math.max(0, Math.min(total, Math.floor(seen.top / rowHeight) - spare));
  const to = Math.min(total, Math.ceil((seen.top + seen.height) / rowHeight) + spare);
  useEffect(() => {
    if (to > from) onRange?.(from, to);
  }, [from, to, onRange]);
  useEffect(() => {
    if (showIndex !== undefined && box.current) box.current.scrollTop = Math.max(0, showIndex * rowHeight - seen.height / 3);
  }, [showIndex]);
  useEffect(() => {
    if (active >= total) setActive(total - 1);
  }, [total]);

  const reach = (index: number) => {
    const next = Math.max(0, Math.min(total - 1, index));
    setActive(next);
    const element = box.current;
    if (element) {
      const top = next * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + 2 * rowHeight > element.scrollTop + element.clientHeight)
        element.scrollTop = top + 2 * rowHeight - element.clientHeight;
    }
    const there = row(next);
    if (there !== undefined) onPick?.(there);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(seen.height / rowHeight) - 2);
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: total - 1,
    };
    const there = active >= 0 ? row(active) : undefined;
    if (event.key in moves) reach(moves[event.key] as number);
    else if (event.key === 'Enter' && there !== undefined && onOpen) onOpen(there);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const rows = [];
  for (let index = from; index < to; index++) {
    const there = row(index);
    const selected = there !== undefined && isSelected?.(there);
    const extra = there !== undefined ? rowClass?.(there, index) : undefined;
    rows.push(
      <div
        key={there === undefined ? `#${index}` : rowKey(there)}
        id={`${id}-${index}`}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={isSelected ? !!selected : undefined}
        class={`row${selected ? ' selected' : ''}${index === active ? ' active' : ''}${extra ? ` ${extra}` : ''}`}
        style={{ top: `${index * rowHeight}px`, gridTemplateColumns: template }}
        onClick={(event) => {
          if (there === undefined || (event.target as Element).closest('a,button,input,label')) return;
          setActive(index);
          onPick?.(there);
        }}
        onDblClick={() => there !== undefined && onOpen?.(there)}
      >
        {columns.map((column) => (
          <div role="gridcell" key={column.id} class={`cell${column.align ? ' right' : ''}`}>
            {there === undefined ? <span class="bone" /> : column.cell(there)}
          </div>
        ))}
      </div>,
    );
  }

  const full = (total + 1) * rowHeight;
  return (
    <div
      ref={box}
      class={`table${height === 'fill' ? ' fill' : ''}`}
      style={height === 'fill' ? undefined : { height: `${Math.min(height, full + 2)}px` }}
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns.length}
      aria-activedescendant={active >= from && active < to ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" class="head" style={{ minWidth: `${leastWidth}px` }}>
        <div role="row" class="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {columns.map((column) => (
            <Head key={column.id} column={column} {...props} />
          ))}
        </div>
      </div>
      <div role="rowgroup" class="rows" style={{ height: `${total * rowHeight}px`, minWidth: `${leastWidth}px` }}>
        {rows}
      </div>
    </div>
  );
}

function Head<R>({ column, sort, descending, onSort }: { column: Column<R> } & Pick<TableProps<R>, 'sort' | 'descending' | 'onSort'>) {
  const sorted = sort === column.id;
  const state = sorted ? (descending ? 'descending' : 'ascending') : column.sortable ? 'none' : undefined;
  return (
    <div role="columnheader" class={`cell${column.align ? ' right' : ''}`} aria-sort={state} title={column.hint}>
      {column.sortable && onSort ? (
        <button class="sort" onClick={() => onSort(column.id)}>
          {column.title}
          <span class="sort-sign" aria-hidden="true">
            {sorted ? (descending ? '↓' : '↑') : ''}
          </span>
        </button>
      ) : (
        column.title
      )}
    </div>
  );
}
