// Search everything, and jump: to objects of the moment, to views, to moments that one types.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../api/client.js';
import type { Search } from '../api/types.js';
import * as store from '../state/store.js';
import { Kind, Name } from '../ui/name.js';
import { views } from '../views/registry.js';
import { goToMoment } from './moment_line.js';

export const searchOpen = signal(false);
export function openSearch(): void {
  searchOpen.value = true;
}

interface Choice {
  key: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  hint: string;
  open: () => Promise<string> | void; // tells why not, or ''
}

export function SearchDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = searchOpen.value;
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      class="dialog search"
      aria-label="Search or jump"
      onClose={() => (searchOpen.value = false)}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      {open && <SearchBox close={() => dialog.current?.close()} />}
    </dialog>
  );
}

function SearchBox({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<{ for: string; items: Search['items'] } | undefined>();
  const [message, setMessage] = useState('');
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    const asked = text.trim();
    setActive(0);
    setMessage('');
    if (!asked) {
      setFound(undefined);
      return;
    }
    let gone = false;
    const timer = setTimeout(() => {
      get<Search>('search', { q: asked, limit: 20 }).then(
        (answer) => !gone && setFound({ for: asked, items: answer.items }),
        (error) => !gone && setMessage(error instanceof Error ? error.message : String(error)),
      );
    }, 80);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [text]);

  const choices = choicesOf(text.trim(), found?.items ?? []);
  const shownActive = Math.min(active, choices.length - 1);
  const choose = async (choice: Choice | undefined) => {
    if (!choice) return;
    const refused = await choice.open();
    if (refused) setMessage(refused);
    else close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setActive(Math.min(choices.length - 1, shownActive + 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(0, shownActive - 1));
    else if (event.key === 'Enter') void choose(choices[shownActive]);
    else return;
    event.preventDefault();
  };
  useEffect(() => document.getElementById(`found-${shownActive}`)?.scrollIntoView({ block: 'nearest' }), [shownActive]);
  return (
    <>
      <input
        ref={input}
        class="search-input"
        type="text"
        role="combobox"
        aria-label="Search objects, views and moments"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={shownActive >= 0 ? `found-${shownActive}` : undefined}
        placeholder="A workload, queue, cohort, node; a view; a moment"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <ul id="found" class="found" role="listbox" aria-label="Found">
        {choices.map((choice, i) => (
          <li
            key={choice.key}
            id={`found-${i}`}
            role="option"
            aria-selected={i === shownActive}
            onPointerMove={() => setActive(i)}
            onClick={() => void choose(choice)}
          >
            <Kind of={choice.kind} />
            <span class="found-name">
              {choice.namespace && (
                <span class="ref-ns">
                  <Name text={choice.namespace} />/
                </span>
              )}
              <Name text={choice.name} />
            </span>
            <span class="found-hint">
              <Name text={choice.hint} />
            </span>
          </li>
        ))}
      </ul>
      <p class="found-note" role="status">
        {message ||
          (found && found.for === text.trim() && found.items.length === 0
            ? 'No object of this moment has it in its name. What existed earlier or later is found when the slider stands there.'
            : '')}
      </p>
    </>
  );
}

function choicesOf(text: string, items: Search['items']): Choice[] {
  const choices: Choice[] = [];
  const words = text.toLowerCase();
  if (looksLikeMoment(words)) choices.push({ key: 'moment', kind: 'Moment', name: text, hint: 'go there', open: () => goToMoment(text) });
  for (const item of items) {
    choices.push({
      key: `${item.object.kind}/${item.object.namespace ?? ''}/${item.object.name}`,
      kind: item.object.kind,
      namespace: item.object.namespace,
      name: item.object.name,
      hint: item.hint,
      open: () => {
        store.goToAddress(`#${item.view.startsWith('/') ? '' : '/'}${item.view.replace(/^#/, '')}`);
        store.select(item.object);
      },
    });
  }
  for (const [name, view] of Object.entries(views)) {
    if (!view.inNavigation || (words && !view.title.toLowerCase().includes(words))) continue;
    choices.push({
      key: `view/${name}`,
      kind: 'View',
      name: view.title,
      hint: view.letter ? `g ${view.letter}` : '',
      open: () => store.go(name),
    });
  }
  return choices;
}

/** now, latest, a position, -5m, 14:03, 2026-01-06, yesterday. */
export function looksLikeMoment(text: string): boolean {
  return /^(now|latest|first|today.*|yesterday.*|\d{1,15}|-\d+(\.\d+)?(ms|s|m|h|d|w)(\d+(ms|s|m|h|d|w))*|\d{1,2}:\d\d(:\d\d(\.\d+)?)?|\d{4}-\d\d-\d\d.*)$/.test(
    text.trim(),
  );
}
