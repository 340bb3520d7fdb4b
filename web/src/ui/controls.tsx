import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

type ButtonProps = JSX.IntrinsicElements['button'] & { quiet?: boolean; children?: ComponentChildren };

export function Button({ quiet, class: more, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} class={`button${quiet ? ' quiet' : ''}${more ? ` ${String(more)}` : ''}`} {...rest} />;
}

export function Toggle({
  on,
  onChange,
  children,
  title,
}: {
  on: boolean;
  onChange: (on: boolean) => void;
  children: ComponentChildren;
  title?: string;
}) {
  return (
    <button type="button" class="button toggle" aria-pressed={on} title={title} onClick={() => onChange(!on)}>
      {children}
    </button>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: { value: string; text: string }[];
  onChange: (value: string) => void;
  showLabel?: boolean;
}
export function Select({ label, value, options, onChange, showLabel }: SelectProps) {
  return (
    <label class="select">
      <span class={showLabel ? 'select-label' : 'unseen'}>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((o) => (
          <option key={o.value} value={o.value}>
            {o.text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  placeholder?: string;
  delay?: number; // ms to wait for the next letter
  showLabel?: boolean;
  width?: number;
  list?: string[]; // offered while one types
}
export function Field({ label, value, onInput, placeholder, delay = 0, showLabel, width, list }: FieldProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const told = useRef(value);
  useEffect(() => {
    if (value !== told.current) {
      told.current = value;
      setTyped(value);
    }
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (text: string) => {
    told.current = text;
    onInput(text);
  };
  const listId = list ? `list-${label.replace(/\W+/g, '-')}` : undefined;
  return (
    <label class="field" style={width ? { width: `${width}px` } : undefined}>
      <span class={showLabel ? 'field-label' : 'unseen'}>{label}</span>
      <input
        type="text"
        value={typed}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        list={listId}
        onInput={(event) => {
          const text = event.currentTarget.value;
          setTyped(text);
          clearTimeout(timer.current);
          if (delay) timer.current = setTimeout(() => tell(text), delay);
          else tell(text);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          clearTimeout(timer.current);
          tell(event.currentTarget.value);
        }}
      />
      {list && (
        <datalist id={listId}>
          {list.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
    </label>
  );
}

interface SegmentsProps<V extends string> {
  label: string;
  options: { value: V; text: ComponentChildren; title?: string }[];
  value: V;
  onChange: (value: V) => void;
}
/** One of a few. */
export function Segments<V extends string>({ label, options, value, onChange }: SegmentsProps<V>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((o) => (
        <button type="button" key={o.value} aria-pressed={o.value === value} title={o.title} onClick={() => onChange(o.value)}>
          {o.text}
        </button>
      ))}
    </div>
  );
}

/** Puts a text into the clipboard and says so. */
export function CopyButton({ text, children, title }: { text: string | (() => string); children: ComponentChildren; title?: string }) {
  const [done, setDone] = useState<'' | 'copied' | 'failed'>('');
  const copy = async () => {
    setDone((await copyText(typeof text === 'string' ? text : text())) ? 'copied' : 'failed');
    setTimeout(() => setDone(''), 1600);
  };
  return (
    <button
      type="button"
      class="button quiet copy"
      title={title ?? (typeof text === 'string' ? text : undefined)}
      onClick={() => void copy()}
    >
      {children}
      <span class="copy-done" role="status">
        {done === 'copied' ? 'copied' : done === 'failed' ? 'not allowed' : ''}
      </span>
    </button>
  );
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS browsers give no clipboard but this one.
    const box = document.createElement('textarea');
    box.value = text;
    box.className = 'unseen';
    document.body.append(box);
    box.select();
    const done = document.execCommand('copy');
    box.remove();
    return done;
  }
}

/** Saves what `make` gives as a file. */
export function Download({
  name,
  type,
  make,
  children,
}: {
  name: string;
  type: string;
  make: () => Promise<string> | string;
  children: ComponentChildren;
}) {
  const [state, setState] = useState('');
  const save = async () => {
    setState('…');
    try {
      const url = URL.createObjectURL(new Blob([await make()], { type }));
      const link = document.createElement('a');
      link.href = url;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
      setState('');
    } catch (error) {
      setState(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <button type="button" class="button quiet" disabled={state === '…'} onClick={() => void save()}>
      {children}
      {state && (
        <span class="copy-done" role="status">
          {state}
        </span>
      )}
    </button>
  );
}
