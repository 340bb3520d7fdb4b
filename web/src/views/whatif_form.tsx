// A new branch: cards of edits, a name, and from which moment on.
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Refusal, send, useView } from '../api/client.js';
import type { Branch, BranchRequest, Cohorts, Edit } from '../api/types.js';
import { pairsOf } from '../draw/quota_words.js';
import { branch as lookedAt, go, lookAtBranch, place, selected } from '../state/store.js';
import { Button, CopyButton, Field, Select } from '../ui/controls.js';
import { formatCount, shortened, visible } from '../ui/format.js';
import { When } from '../ui/when.js';
import { queueNames } from './queue_names.js';
import { faultOf, manifestKinds, parseDropped, whatIfCommand } from './whatif_words.js';

/** A card under work. What is typed stays as typed; the edit is made of it. */
interface Card {
  id: number;
  kind: Edit['kind'];
  words: Record<string, string>;
}

// They outlive the view: who looks something up elsewhere finds the cards again.
const cards = signal<Card[]>([]);
const name = signal('');
const until = signal('');
let nextCard = 1;

const kinds: { kind: Edit['kind']; title: string; hint: string }[] = [
  { kind: 'quota', title: 'Quota', hint: 'Another nominal quota of a ClusterQueue' },
  { kind: 'drop', title: 'Never came', hint: 'A Workload or job that never came' },
  { kind: 'nodes', title: 'Nodes', hint: 'More Nodes like one that is there' },
  { kind: 'manifest', title: 'Manifest', hint: 'Objects that are there instead or beside, as YAML' },
  { kind: 'featureGates', title: 'Feature gates', hint: 'Other feature gates' },
];

const titleOf = (kind: Edit['kind']): string => kinds.find((k) => k.kind === kind)?.title ?? kind;

function editOf(card: Card): Edit {
  const word = (key: string): string => (card.words[key] ?? '').trim();
  switch (card.kind) {
    case 'quota':
      return { kind: 'quota', clusterQueue: word('clusterQueue'), resource: word('resource'), amount: word('amount'), ...(word('flavor') ? { flavor: word('flavor') } : {}) };
    case 'manifest':
      return { kind: 'manifest', yaml: card.words['yaml'] ?? '' };
    case 'drop':
      return { kind: 'drop', object: parseDropped(word('object')) ?? { kind: 'Workload', name: '' } };
    case 'nodes':
      return { kind: 'nodes', count: Number(word('count') || '1'), like: word('like') };
    case 'featureGates':
      return { kind: 'featureGates', text: word('text') };
  }
}

function addCard(kind: Edit['kind']): void {
  const chosen = selected.peek();
  const words: Record<string, string> = {};
  if (kind === 'quota' && chosen?.kind === 'ClusterQueue') words['clusterQueue'] = chosen.name;
  if (kind === 'drop' && (chosen?.kind === 'Workload' || chosen?.kind === 'Job')) words['object'] = `${chosen.kind === 'Job' ? 'job/' : ''}${chosen.namespace ?? ''}/${chosen.name}`;
  if (kind === 'nodes' && chosen?.kind === 'Node') words['like'] = chosen.name;
  cards.value = [...cards.peek(), { id: nextCard++, kind, words }];
}

export function WhatIfForm() {
  const busy = useSignal(false);
  const refused = useSignal<Refusal | undefined>(undefined);
  const tried = useSignal(false); // faults are told once somebody wanted to play
  const known = useView<Cohorts>('cohorts');
  const queues = known.data ? queueNames(known.data.roots) : [];
  const pairs = known.data ? pairsOf(known.data.roots) : [];
  const resources = [...new Set(pairs.map((p) => p.resource))];
  const flavors = [...new Set(pairs.map((p) => p.flavor))];
  const edits = cards.value.map(editOf);
  const faults = edits.map(faultOf);
  const end = until.value.trim();
  const endFault = end !== '' && (!/^\d{1,15}$/.test(end) || Number(end) <= place.value.position) ? 'The end is the position of a record behind this moment, or empty.' : undefined;
  const request: BranchRequest = {
    name: name.value.trim() || suggested(edits),
    from: place.value.position,
    ...(end && !endFault ? { until: Number(end) } : {}),
    edits,
  };
  const ready = edits.length > 0 && faults.every((f) => f === undefined) && !endFault;

  const play = async (): Promise<void> => {
    tried.value = true;
    if (!ready || busy.peek()) return;
    busy.value = true;
    refused.value = undefined;
    try {
      const made = await send<Branch>('POST', 'branches', request);
      cards.value = [];
      name.value = '';
      until.value = '';
      go('whatif', [made.id]);
    } catch (error) {
      refused.value = error instanceof Refusal ? error : new Refusal(0, String(error));
    } finally {
      busy.value = false;
    }
  };

  if (lookedAt.value)
    return (
      <p class="whatif-in-branch">
        You are looking at a branch, and a new one begins from what was. <Button onClick={() => lookAtBranch(undefined)}>Back to what was</Button>
      </p>
    );

  return (
    <form
      class="whatif-form"
      onSubmit={(event) => {
        event.preventDefault();
        void play();
      }}
    >
      <p>
        From record {formatCount(place.value.position)} on, <When time={place.value.time} exact />, let it be otherwise. Move the slider to begin elsewhere.
      </p>
      <ol class="cards">
        {cards.value.map((card, i) => (
          <EditCard key={card.id} card={card} title={titleOf(card.kind)} fault={tried.value ? faults[i] : undefined}>
            <CardFields card={card} queues={queues} resources={resources} flavors={flavors} />
          </EditCard>
        ))}
      </ol>
      <div class="add-card" role="group" aria-label="Add an edit">
        <span class="nothing">{cards.value.length === 0 ? 'Add what is otherwise:' : 'And:'}</span>
        {kinds.map(({ kind, title, hint }) => (
          <Button key={kind} title={hint} onClick={() => addCard(kind)}>+ {title}</Button>
        ))}
      </div>
      {cards.value.length > 0 && (
        <div class="whatif-run">
          <Field label="Name of the branch" showLabel value={name.value} placeholder={suggested(edits)} onInput={(text) => (name.value = text.slice(0, 120))} width={280} />
          <Field label="Until record" showLabel value={until.value} placeholder="the newest" onInput={(text) => (until.value = text)} width={120} />
          <Button type="submit" class="primary" disabled={busy.value}>{busy.value ? 'Begins…' : '▷ Play'}</Button>
          <CopyButton text={() => whatIfCommand(request)} title="Copies the command that plays the same in a shell">Copy as command</CopyButton>
        </div>
      )}
      <p class="fault" role="alert">
        {tried.value && endFault}
        {refused.value && <><bdi>{refused.value.message}</bdi> {refused.value.remedy && <bdi>{refused.value.remedy}</bdi>}</>}
      </p>
    </form>
  );
}

/** A name made of the first edit, for who gives none. */
function suggested(edits: Edit[]): string {
  const first = edits[0];
  if (!first) return 'branch';
  const more = edits.length > 1 ? ` and ${edits.length - 1} more` : '';
  switch (first.kind) {
    case 'quota':
      return `${first.clusterQueue || 'queue'} ${first.resource} ${first.amount}`.trim() + more;
    case 'manifest':
      return (manifestKinds(first.yaml)[0] ?? 'manifest') + more;
    case 'drop':
      return `without ${first.object.name}` + more;
    case 'nodes':
      return `${first.count || ''} more Nodes`.trim() + more;
    case 'featureGates':
      return first.text.slice(0, 60) + more;
  }
}

function EditCard({ card, title, fault, children }: { card: Card; title: string; fault: string | undefined; children: ComponentChildren }) {
  return (
    <li class="card">
      <div class="card-head">
        <h2>{title}</h2>
        <Button quiet aria-label={`Take away the card ${title}`} onClick={() => (cards.value = cards.peek().filter((c) => c.id !== card.id))}>✕</Button>
      </div>
      <div class="card-fields">{children}</div>
      <p class="fault" role="status">{fault ?? ''}</p>
    </li>
  );
}

function CardFields({ card, queues, resources, flavors }: { card: Card; queues: string[]; resources: string[]; flavors: string[] }) {
  const value = (key: string): string => card.words[key] ?? '';
  const set = (key: string) => (text: string): void => {
    cards.value = cards.peek().map((c) => (c.id === card.id ? { ...c, words: { ...c.words, [key]: text } } : c));
  };
  switch (card.kind) {
    case 'quota':
      return (
        <>
          {queues.length > 0 && queues.length <= 200 ? (
            <Select label="ClusterQueue" showLabel value={value('clusterQueue')} options={[{ value: '', text: 'choose' }, ...queues.map((q) => ({ value: q, text: shortened(visible(q), 60) }))]} onChange={set('clusterQueue')} />
          ) : (
            <Field label="ClusterQueue" showLabel value={value('clusterQueue')} onInput={set('clusterQueue')} list={queues.slice(0, 500)} />
          )}
          <Field label="Resource" showLabel value={value('resource')} placeholder={resources[0] ?? 'cpu'} list={resources} onInput={set('resource')} width={144} />
          <Field label="Flavor" showLabel value={value('flavor')} placeholder="the only one" list={flavors} onInput={set('flavor')} width={120} />
          <Field label="Amount" showLabel value={value('amount')} placeholder="8, +40 or -2" onInput={set('amount')} width={104} />
        </>
      );
    case 'drop':
      return <Field label="Workload or job" showLabel value={value('object')} placeholder="team-a/job-train-1 or job/team-a/train" onInput={set('object')} width={320} />;
    case 'nodes':
      return (
        <>
          <Field label="How many" showLabel value={value('count')} placeholder="1" onInput={set('count')} width={80} />
          <Field label="Like the Node" showLabel value={value('like')} placeholder="node-7" onInput={set('like')} width={240} />
        </>
      );
    case 'featureGates':
      return <Field label="Feature gates" showLabel value={value('text')} placeholder="PartialAdmission=false" onInput={set('text')} width={320} />;
    case 'manifest':
      return (
        <label class="field wide">
          <span class="field-label">Manifest, documents divided by ---</span>
          <textarea rows={8} spellcheck={false} value={value('yaml')} placeholder={'apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: team-c}'} onInput={(event) => set('yaml')(event.currentTarget.value)} />
          <span class="nothing">{manifestKinds(value('yaml')).map((what) => <bdi key={what}>{what} </bdi>)}</span>
        </label>
      );
  }
}
