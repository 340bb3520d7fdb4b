// What differs between two moments, or between a moment and a branch: objects, the biggest effect first, and the curves of both.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useView } from '../api/client.js';
import type { Branch, Compare, Timeline } from '../api/types.js';
import { joined } from '../draw/curves.js';
import { branch as lookedAt, filter, hrefAt, hrefOf, indexed, log, moveTo, place, route, zone } from '../state/store.js';
import { Button, CopyButton, Download, Field, Segments, Select } from '../ui/controls.js';
import { formatCount, formatExact, microsOf, plural } from '../ui/format.js';
import { Kind, Name, Ref } from '../ui/name.js';
import { Plot } from '../ui/plot.js';
import { Section, ViewHead } from '../ui/page.js';
import { Empty, Seen } from '../ui/states.js';

const buckets = 400;
const rowsAtFirst = 60;

export default function CompareView() {
  const { query } = route.value;
  const branches = useView<Branch[]>('branches', {}, { atMoment: false, when: log.value?.canBranch === true });
  const done = (branches.data ?? []).filter((b) => b.state === 'done' && b.latest);
  const id = query['with'] ?? lookedAt.value;
  const beside = done.find((b) => b.id === id);
  const here = place.value.position;
  const a = /^\d{1,15}$/.test(query['a'] ?? '') ? Number(query['a']) : undefined;

  return (
    <div class="compare">
      <ViewHead
        title="Compare"
        note={id ? 'what was, and what would have been' : 'two moments'}
        actions={
          done.length > 0 || id ? (
            <Select
              label="Compare with"
              showLabel
              value={id ?? ''}
              options={[{ value: '', text: 'another moment' }, ...done.map((b) => ({ value: b.id, text: `branch ${b.name || b.id}` }))]}
              onChange={(next) => filter({ with: next || undefined, a: undefined })}
            />
          ) : undefined
        }
      />
      {id ? (
        beside?.latest ? (
          <Compared key={id} a={a ?? lastCommon(beside)} b={beside.latest.position} branch={beside} />
        ) : (
          <Empty todo={<a href={hrefOf({ view: 'whatif', parts: [], query: {} })}>All branches</a>}>
            {branches.state === 'loading' ? 'The branch is being looked up.' : 'There is no finished branch of this name.'}
          </Empty>
        )
      ) : a === undefined ? (
        <Choose here={here} />
      ) : (
        <Compared a={a} b={here} branch={undefined} />
      )}
    </div>
  );
}

/** Up to where what was is compared with the branch. */
const lastCommon = (branch: Branch): number => branch.until ?? log.value?.latest.position ?? branch.from.position;

/** Nothing is chosen yet: the ways to choose. */
function Choose({ here }: { here: number }) {
  const first = log.value?.first;
  return (
    <Empty
      todo={
        <span class="choose">
          <Button onClick={() => filter({ a: String(here) })}>Take this moment as the first</Button>
          {first && first.position !== here && <Button onClick={() => filter({ a: String(first.position) })}>Compare with the beginning of the log</Button>}
        </span>
      }
    >
      Choose the first moment, then move the slider: what differs is listed here. The key c does the same in every view.
    </Empty>
  );
}

function Compared({ a, b, branch }: { a: number; b: number; branch: Branch | undefined }) {
  const same = a === b && !branch;
  const seen = useView<Compare>('compare', { a, b, branch: branch?.id }, { atMoment: false, when: b > 0 && !same });
  if (same)
    return (
      <>
        <Moments a={{ position: a, time: place.value.time }} b={undefined} branch={branch} />
        <Empty todo={<Button onClick={() => filter({ a: undefined })}>Choose another first moment</Button>}>
          Both moments are the same. Move the slider to the second one.
        </Empty>
      </>
    );
  return (
    <Seen
      of={seen}
      words={{
        empty: '',
        absent: 'One of the two moments is not in the log.',
        forbidden: 'You may not compare these. Branches are for those who may see all namespaces.',
        broken: 'The two could not be compared.',
      }}
      skeleton={{ rows: 10 }}
    >
      {(data) => (
        <>
          <Moments a={data.a} b={data.b} branch={branch} />
          <Curves data={data} branch={branch} />
          <Differences data={data} branch={branch} />
        </>
      )}
    </Seen>
  );
}

function Moments({ a, b, branch }: { a: Compare['a']; b: Compare['b'] | undefined; branch: Branch | undefined }) {
  return (
    <div class="compare-moments">
      <p>
        <span class="sign-a" aria-hidden="true">A</span>
        <span class="unseen">The first: </span>
        {branch ? 'what was, ' : ''}
        <a href={hrefAt(a.position)}>record {formatCount(a.position)}</a> <span class="nothing">{a.time ? formatExact(a.time, zone.value) : ''}</span>
      </p>
      {b && (
        <p>
          <span class="sign-b" aria-hidden="true">B</span>
          <span class="unseen">The second: </span>
          {branch ? <>branch <a href={hrefOf({ view: 'whatif', parts: [branch.id], query: {} })}><Name text={branch.name || branch.id} short={48} /></a>, </> : ''}
          record {formatCount(b.position)} <span class="nothing">{formatExact(b.time, zone.value)}</span>
        </p>
      )}
      {b && !branch && (
        <p class="compare-actions">
          <Button quiet onClick={() => { filter({ a: String(b.position) }); moveTo(a.position, { time: a.time }); }}>Exchange A and B</Button>
          <Button quiet onClick={() => filter({ a: undefined })}>Choose anew</Button>
          <CopyButton text={`hindsight diff ${a.position} ${b.position}`}>Copy as command</CopyButton>
        </p>
      )}
    </div>
  );
}

type Measured = 'used' | 'waiting' | 'running';

function Curves({ data, branch }: { data: Compare; branch: Branch | undefined }) {
  const measure = useSignal<Measured>('waiting');
  const from = branch ? branch.from.position : Math.min(data.a.position, data.b.position);
  const to = branch ? data.a.position : Math.max(data.a.position, data.b.position);
  // What is not read yet is drawn as it comes.
  const partial = useSignal(false);
  const was = useView<Timeline>('timeline', { from, to, buckets }, { atMoment: false, when: to > from, version: partial.value ? indexed.value?.scannedTo : undefined });
  const other = useView<Timeline>('timeline', { from, to: data.b.position, buckets, branch: branch?.id }, { atMoment: false, when: branch !== undefined });
  useEffect(() => {
    partial.value = was.data?.complete === false;
  }, [was.data]);
  const chosen = measure.value;
  const format = chosen === 'used' ? (v: number) => `${Math.round(v / 10)} %` : formatCount;
  const words = { used: 'used of nominal quota', waiting: 'Workloads waiting', running: 'Workloads running' }[chosen];
  const a = was.data;
  const b = other.data;
  const both = a ? joined([{ time: a.time, values: a[chosen] }, ...(branch && b ? [{ time: b.time, values: b[chosen] }] : [])]) : undefined;
  if (to <= from) return null;
  return (
    <Section
      title={branch ? 'Curves of both' : 'Between them'}
      note={words}
      class="compare-curves"
    >
      <Segments<Measured>
        label="What is drawn"
        options={[{ value: 'waiting', text: 'Waiting' }, { value: 'running', text: 'Running' }, { value: 'used', text: 'Used' }]}
        value={chosen}
        onChange={(next) => (measure.value = next)}
      />
      <Seen of={was} words={{ empty: '', broken: 'The curves could not be read.' }} skeleton={{ height: 200 }}>
        {() =>
          both && both.time.length > 1 ? (
            <Plot
              label={`${words}, ${branch ? 'as it was and in the branch' : 'between the two moments'}`}
              time={both.time}
              series={[
                { label: branch ? 'A, what was' : words, values: both.values[0] ?? [] },
                ...(both.values[1] ? [{ label: 'B, the branch', values: both.values[1], dash: [6, 4], colour: '--warn' as const }] : []),
              ]}
              height={200}
              mark={microsOf(place.value.time)}
              format={format}
            />
          ) : (
            <p class="nothing">There is no stretch of time between them to draw.</p>
          )
        }
      </Seen>
    </Section>
  );
}

type Item = Compare['items'][number];

function Differences({ data, branch }: { data: Compare; branch: Branch | undefined }) {
  const { query } = route.value;
  const shown = useSignal(rowsAtFirst);
  const kinds = [...new Set(data.items.map((item) => item.object.kind))].sort();
  const text = (query['text'] ?? '').toLowerCase();
  const items = data.items.filter(
    (item) => (!query['kind'] || item.object.kind === query['kind']) && (!text || `${item.object.namespace ?? ''}/${item.object.name} ${item.sentence}`.toLowerCase().includes(text)),
  );
  const most = data.items.reduce((max, item) => Math.max(max, Math.abs(item.effect)), 0);
  return (
    <Section
      title={<>What differs <span class="figure" title="Objects that are not the same in both">{formatCount(items.length)}</span></>}
      note={[data.leftOut > 0 ? `${formatCount(data.leftOut)} with smaller effects are left out` : 'biggest effect first', data.hidden > 0 ? `${formatCount(data.hidden)} are in namespaces you may not see` : ''].filter(Boolean).join('; ')}
    >
      <div class="compare-filter">
        <Field label="Filter what differs" placeholder="Name or words" value={query['text'] ?? ''} delay={150} onInput={(next) => filter({ text: next })} />
        {kinds.length > 1 && (
          <Select label="Kind" value={query['kind'] ?? ''} options={[{ value: '', text: 'all kinds' }, ...kinds.map((k) => ({ value: k, text: k }))]} onChange={(kind) => filter({ kind: kind || undefined })} />
        )}
        <Download name={`compare-${data.a.position}-${data.b.position}.json`} type="application/json" make={() => JSON.stringify({ ...data, items }, null, 2)}>
          Save as JSON
        </Download>
      </div>
      {data.items.length === 0 ? (
        <Empty todo={branch ? 'The edits of the branch change nothing here.' : 'Choose moments that are further apart.'}>Nothing differs between the two.</Empty>
      ) : items.length === 0 ? (
        <Empty todo="Take away a filter.">Nothing of what differs fits the filter.</Empty>
      ) : (
        <ol class="differences">
          {items.slice(0, shown.value).map((item) => (
            <Difference key={`${item.object.kind}/${item.object.namespace ?? ''}/${item.object.name}`} item={item} most={most} />
          ))}
        </ol>
      )}
      {items.length > shown.value && (
        <p>
          <Button onClick={() => (shown.value += 200)}>Show more</Button> <span class="nothing">{plural(items.length - shown.value, 'object')} more</span>
        </p>
      )}
    </Section>
  );
}

function Difference({ item, most }: { item: Item; most: number }) {
  const open = useSignal(false);
  return (
    <li class="difference">
      <span class="effect" title="How large the effect is, beside the biggest one here">
        <span class="effect-bar" style={{ width: `${most > 0 ? Math.max(2, (100 * Math.abs(item.effect)) / most) : 0}%` }} />
      </span>
      <div class="difference-what">
        <p>
          <Kind of={item.object.kind} /> <Ref to={item.object} /> <bdi>{item.sentence}</bdi>
        </p>
        {open.value && (
          <div class="scroll">
            <table class="ledger changes">
              <thead>
                <tr>
                  <th scope="col">Field</th>
                  <th scope="col">A</th>
                  <th scope="col">B</th>
                </tr>
              </thead>
              <tbody>
                {item.changes.map((change) => (
                  <tr key={change.field}>
                    <td><bdi>{change.field}</bdi></td>
                    <td>{change.before === undefined ? <span class="nothing">not there</span> : <Name text={change.before} short={200} />}</td>
                    <td>{change.after === undefined ? <span class="nothing">not there</span> : <Name text={change.after} short={200} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {item.changesLeftOut ? <p class="nothing">{plural(item.changesLeftOut, 'further field')} changed, too.</p> : null}
          </div>
        )}
      </div>
      {item.changes.length > 0 && (
        <button class="link" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
          {open.value ? '▾' : '▸'} {plural(item.changes.length, 'field')}
        </button>
      )}
    </li>
  );
}
