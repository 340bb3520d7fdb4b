// All keys. Nothing happens while one types into a field, or with Ctrl or Meta but for the search.
import * as store from '../state/store.js';
import { views } from '../views/registry.js';
import { openSearch, searchOpen } from './search.js';
import { step, togglePlay } from './step.js';

let afterG = -Infinity; // when `g` was pressed

export function followKeys(): void {
  addEventListener('keydown', onKey);
}

function onKey(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    openSearch();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.defaultPrevented || store.connection.peek() === 'signedOut') return;
  const target = event.target as Element | null;
  if (target?.closest('input, textarea, select, dialog, [contenteditable]')) return;
  const key = event.key;
  if (performance.now() - afterG < 1500) {
    afterG = -Infinity;
    const view = Object.entries(views).find(([, entry]) => entry.letter === key.toLowerCase());
    if (view) {
      event.preventDefault();
      store.go(view[0]);
      return;
    }
  }
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight':
      if (target?.closest('[data-arrows]')) return; // a component that has its own use for them
      void step(key === 'ArrowLeft' ? 'back' : 'forward', event.altKey ? 'event' : event.shiftKey ? 'decision' : undefined);
      break;
    case ' ':
      if (target?.closest('button, a, summary, [role=button], [role=treeitem]')) return;
      togglePlay();
      break;
    case 'n':
      store.moveTo('now');
      break;
    case 'm':
      dispatchEvent(new Event('hindsight-moment'));
      break;
    case '/':
      openSearch();
      break;
    case 'g':
      afterG = performance.now();
      break;
    case 'w':
      store.showPanel(!store.panelOpen.peek());
      break;
    case 'c':
      store.go('compare', [], { a: String(store.place.peek().position) });
      break;
    case '?':
      store.keysOpen.value = true;
      break;
    case 'Escape':
      if (searchOpen.peek()) return;
      if (store.navOpen.peek()) store.navOpen.value = false;
      else if (store.panelOpen.peek() && innerWidth < store.wideFrom) store.showPanel(false);
      else if (store.selected.peek()) store.select(undefined);
      break;
    default:
      return;
  }
  event.preventDefault();
}

/** For the list of all keys. */
export function allKeys(): { keys: string[]; what: string }[] {
  const letters = Object.values(views)
    .filter((v) => v.letter)
    .map((v) => ({ keys: ['g', v.letter as string], what: v.title }));
  return [
    { keys: ['←', '→'], what: 'One step back or forward' },
    { keys: ['Shift', '← →'], what: 'To the decision before or after' },
    { keys: ['Alt', '← →'], what: 'To the event of the selected object before or after' },
    { keys: ['Space'], what: 'Play and stop' },
    { keys: ['n'], what: 'Now: follow the newest record' },
    { keys: ['m'], what: 'Go to a moment that you type' },
    { keys: ['/'], what: 'Search or jump; also Ctrl K' },
    { keys: ['w'], what: 'Explanation: open or close' },
    { keys: ['c'], what: 'Compare from here' },
    { keys: ['Esc'], what: 'Close, or select nothing' },
    { keys: ['?'], what: 'All keys' },
    ...letters,
  ];
}
