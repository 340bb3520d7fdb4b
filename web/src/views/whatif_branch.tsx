// One branch: its edits, how far it is, and what came of it.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pathOf, Refusal, send, useView } from '../api/client.js';
import type { Branch, Edit } from '../api/types.js';
import { branch as lookedAt, go, hrefAt, hrefOf, lookAtBranch, moveTo } from '../state/store.js';
import { Button, CopyButton, Download } from '../ui/controls.js';
import { formatCount } from '../ui/format.js';
import { Name, Ref } from '../ui/name.js';
import { ViewHead } from '../ui/page.js';
import { Broken, Seen } from '../ui/states.js';
import { When } from '../ui/when.js';
import { NoSuchBranch, stateWords } from './whatif.js';
import { OutcomeShown } from './whatif_outcome.js';
import { editSentence, progressOf, whatIfCommand } from './whatif_words.js';

const pollMilliseconds = 700;

export function WhatIfBranch({ id }: { id: string }) {
  const round = useSignal(0);
  const seen = useView<Branch>(pathOf('branches', id), {}, { atMoment: false, version: round.value });
  const running = !!seen.data && isUnderWay(seen.data);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => (round.value += 1), pollMilliseconds);
    return () => clearInterval(timer);
  }, [running]);
  if (seen.state === 'absent') return <NoSuchBranch />;
  return (
    <Seen of={seen} words={{ empty: '', broken: 'The branch could not be read.', forbidden: 'Branches are for those who may see all namespaces.' }} skeleton={{ rows: 8 }}>
      {(branch) => <Shown branch={branch} again={() => (round.value += 1)} />}
    </Seen>
  );
}

const isUnderWay = (branch: Branch): boolean => branch.state === 'running' || branch.state === 'waiting';

function Shown({ branch, again }: { branch: Branch; again: () => void }) {
  const isLookedAt = lookedAt.value === branch.id;
  const request = { name: branch.name, from: branch.from.position, ...(branch.until === undefined ? {} : { until: branch.until }), edits: branch.edits };
  const open = (): void => {
    lookAtBranch(branch.id);
    if (branch.latest) moveTo(branch.latest.position, { time: branch.latest.time });
  };
  return (
    <>
      <ViewHead
        title={<Name text={branch.name || branch.id} short={80} />}
        note={
          <>
            <span class={`branch-state state-${branch.state}`}>{stateWords(branch)}</span> from <a href={hrefAt(branch.from.position)}>record {formatCount(branch.from.position)}</a>, <When time={branch.from.time} exact />; <a href={hrefOf({ view: 'whatif', parts: [], query: {} })}>all branches</a>
          </>
        }
        actions={
          <>
            {branch.latest &&
              (isLookedAt ? (
                <Button onClick={() => lookAtBranch(undefined)}>Back to what was</Button>
              ) : (
                <Button class="primary" onClick={open} title="All views then show the branch; the slider is its time">Open the branch</Button>
              ))}
            {branch.latest && <a class="button" href={hrefOf({ view: 'compare', parts: [], query: { with: branch.id } })}>Compare with what was</a>}
            <CopyButton text={() => whatIfCommand(request)} title="Copies the command that plays the same in a shell">Copy as command</CopyButton>
            {branch.state === 'done' && (
              <Download name={`what-if-${branch.from.position}.json`} type="application/json" make={() => JSON.stringify(branch.result, null, 2)}>Save as JSON</Download>
            )}
            <End branch={branch} again={again} />
          </>
        }
      />
      <Edits edits={branch.edits} />
      {isUnderWay(branch) && <Progress branch={branch} />}
      {branch.state === 'failed' && (
        <Broken todo="Throw it away, and play it again with other edits.">
          The branch could not be played: <bdi>{branch.message ?? 'nothing more is known.'}</bdi>
        </Broken>
      )}
      {branch.state === 'cancelled' && <p class="nothing">It was stopped before it came to the end, so there is no result.</p>}
      {branch.state === 'done' && !branch.latest && (
        <p class="nothing">The log has forgotten its beginning, so the branch has a result and no log of its own: it cannot be opened or compared.</p>
      )}
      {branch.notices && branch.notices.length > 0 && (
        <ul class="notices-list">
          {branch.notices.map((notice) => (
            <li key={notice}>
              <bdi>{notice}</bdi>
            </li>
          ))}
        </ul>
      )}
      {branch.state === 'done' && <OutcomeShown result={branch.result} />}
    </>
  );
}

function Progress({ branch }: { branch: Branch }) {
  const part = progressOf(branch);
  return (
    <div class="whatif-progress">
      <progress max={1} value={part} aria-label="How far the branch is played" />
      <p role="status">
        Played up to record <span class="figure">{formatCount(branch.progress.position)}</span> of <span class="figure">{formatCount(branch.progress.of)}</span>. It goes on if you leave this page.
      </p>
    </div>
  );
}

/** Cancel while it runs; throw away afterwards, which is asked twice because nothing brings it back. */
function End({ branch, again }: { branch: Branch; again: () => void }) {
  const asked = useSignal(false);
  const refused = useSignal('');
  const end = async (): Promise<void> => {
    try {
      await send('DELETE', pathOf('branches', branch.id));
      if (isUnderWay(branch)) {
        again();
        return;
      }
      if (lookedAt.peek() === branch.id) lookAtBranch(undefined);
      go('whatif');
    } catch (error) {
      refused.value = error instanceof Refusal ? error.message : String(error);
    }
  };
  return (
    <>
      {isUnderWay(branch) ? (
        <Button onClick={() => void end()}>Cancel</Button>
      ) : asked.value ? (
        <span class="sure" role="group" aria-label="Throw the branch away?">
          For good? <Button onClick={() => void end()}>Yes, throw away</Button> <Button quiet onClick={() => (asked.value = false)}>Keep</Button>
        </span>
      ) : (
        <Button quiet onClick={() => (asked.value = true)}>Throw away</Button>
      )}
      {refused.value && <span class="fault" role="alert"><bdi>{refused.value}</bdi></span>}
    </>
  );
}

function Edits({ edits }: { edits: Edit[] }) {
  return (
    <ul class="edits" aria-label="What is otherwise">
      {edits.map((edit, i) => (
        <li key={i}>
          <EditShown edit={edit} />
        </li>
      ))}
    </ul>
  );
}

function EditShown({ edit }: { edit: Edit }) {
  switch (edit.kind) {
    case 'quota':
      return <><Ref to={{ kind: 'ClusterQueue', name: edit.clusterQueue }} kind /> {editSentence(edit)}</>;
    case 'drop':
      return <><Ref to={edit.object} kind /> {editSentence(edit)}</>;
    case 'nodes':
      return <>{editSentence(edit)} <Name text={edit.like} short={60} /></>;
    case 'featureGates':
      return <>Feature gates <bdi>{edit.text}</bdi></>;
    case 'manifest':
      return (
        <details>
          <summary>
            <bdi>{editSentence(edit)}</bdi>
          </summary>
          <pre class="yaml" tabIndex={0}>{edit.yaml}</pre>
        </details>
      );
  }
}
