import type { ComponentChildren } from 'preact';

/** The first line of every view. */
export function ViewHead({ title, note, actions }: { title: ComponentChildren; note?: ComponentChildren; actions?: ComponentChildren }) {
  return (
    <div class="view-head">
      <h1 tabIndex={-1}>{title}</h1>
      {note && <p class="view-note">{note}</p>}
      {actions && <div class="view-actions">{actions}</div>}
    </div>
  );
}

export function Section({
  title,
  note,
  children,
  class: more,
}: {
  title: ComponentChildren;
  note?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}) {
  return (
    <section class={`section${more ? ` ${more}` : ''}`}>
      <div class="section-head">
        <h2>{title}</h2>
        {note && <span class="view-note">{note}</span>}
      </div>
      {children}
    </section>
  );
}
