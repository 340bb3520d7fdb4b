import type { ObjectRef } from '../api/types.js';
import { hrefOf } from '../state/store.js';
import { shortened, visible } from './format.js';

/** A name or text from outside: isolated, so that its direction stays its own, and with all its characters to be seen. */
export function Name({ text, short }: { text: string; short?: number }) {
  const seen = visible(text);
  const shown = short ? shortened(seen, short) : seen;
  return <bdi title={shown === seen ? undefined : seen}>{shown}</bdi>;
}

export function Kind({ of }: { of: string }) {
  return <span class="kind">{visible(of)}</span>;
}

/** A link to the view of an object; who follows it also selects the object. */
export function Ref({
  to,
  namespaced = true,
  plain,
  class: more,
  kind,
}: {
  to: ObjectRef;
  namespaced?: boolean;
  plain?: boolean;
  class?: string;
  kind?: boolean;
}) {
  const full = visible(to.namespace ? `${to.namespace}/${to.name}` : to.name);
  const inside = (
    <>
      {kind && <Kind of={to.kind} />}
      {namespaced && to.namespace && (
        <>
          <bdi class="ref-ns">{visible(to.namespace)}</bdi>
          <span class="ref-ns">/</span>
        </>
      )}
      <bdi>{visible(to.name)}</bdi>
    </>
  );
  const classes = `ref${more ? ` ${more}` : ''}`;
  if (to.hidden)
    return (
      <span class="ref ref-ns" title="It is in a namespace you may not see">
        {visible(to.name)}
      </span>
    );
  if (to.hidden)
    return (
      <span class={`${classes} hidden-name`} title="In a namespace that you may not see">
        {kind && <Kind of={to.kind} />}
        {visible(to.name)}
      </span>
    );
  if (plain)
    return (
      <span class={classes} title={full}>
        {inside}
      </span>
    );
  return (
    <a class={classes} href={hrefOf(to)} title={`${to.kind} ${full}`}>
      {inside}
    </a>
  );
}

/** Workload NS/NAME as the answers of `why` write it. */
export function workloadRef(text: string): ObjectRef {
  const slash = text.indexOf('/');
  return slash < 0 ? { kind: 'Workload', name: text } : { kind: 'Workload', namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** "Workload team-a/train" or "ClusterQueue team-a", as the headlines write it. */
export function refFrom(text: string): ObjectRef | undefined {
  const space = text.indexOf(' ');
  if (space < 0) return undefined;
  const { namespace, name } = workloadRef(text.slice(space + 1));
  return { kind: text.slice(0, space), ...(namespace ? { namespace } : {}), name };
}
