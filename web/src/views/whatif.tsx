// What would have been: edits as cards, a run, and its result beside what was.
import { useView } from '../api/client.js';
import type { Branch } from '../api/types.js';
import { hrefOf, log, route } from '../state/store.js';
import { formatCount, plural } from '../ui/format.js';
import { Name } from '../ui/name.js';
import { Section, ViewHead } from '../ui/page.js';
import { Empty, Forbidden, Seen } from '../ui/states.js';
import { When } from '../ui/when.js';
import { WhatIfBranch } from './whatif_branch.js';
import { WhatIfForm } from './whatif_form.js';
import { progressOf } from './whatif_words.js';

export default function WhatIf() {
  const id = route.value.parts[0];
  const info = log.value;
  if (info && !info.canBranch)
    return (
      <div class="whatif">
        <ViewHead title="What if" />
        <Forbidden todo={info.seesAll ? 'Start the page with branches allowed, or use hindsight what-if in a shell.' : 'Ask whoever runs it for the right to see all namespaces, or for the answer.'}>
          {info.seesAll ? 'This server plays no branches.' : 'A branch plays everybody’s Workloads on, so it is for those who may see all namespaces.'}
        </Forbidden>
      </div>
    );
  return <div class="whatif">{id === undefined ? <Overview /> : <WhatIfBranch key={id} id={id} />}</div>;
}

function Overview() {
  const seen = useView<Branch[]>('branches', {}, { atMoment: false });
  return (
    <>
      <ViewHead title="What if" note="what would have become of everybody, had something been otherwise from this moment on" />
      <WhatIfForm />
      <Section title="Branches">
        <Seen
          of={seen}
          words={{
            empty: 'No branch has been played yet.',
            emptyTodo: 'Add an edit above and play it.',
            forbidden: 'Branches are for those who may see all namespaces.',
            broken: 'The branches could not be listed.',
          }}
          isEmpty={(branches) => branches.length === 0}
          skeleton={{ rows: 2 }}
        >
          {(branches) => <Branches branches={branches} />}
        </Seen>
      </Section>
    </>
  );
}

function Branches({ branches }: { branches: Branch[] }) {
  return (
    <ul class="branches">
      {branches.map((branch) => (
        <li key={branch.id}>
          <a href={hrefOf({ view: 'whatif', parts: [branch.id], query: {} })}>
            <Name text={branch.name || branch.id} short={60} />
          </a>
          <span class={`branch-state state-${branch.state}`}>{stateWords(branch)}</span>
          <span class="nothing">
            {plural(branch.edits.length, 'edit')}, from record {formatCount(branch.from.position)}, <When time={branch.from.time} exact />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Never colour alone: a sign and a word. */
export function stateWords(branch: Branch): string {
  switch (branch.state) {
    case 'waiting':
      return '… waits for another branch to end';
    case 'running':
      return `◔ is played, ${Math.round(100 * progressOf(branch))} %`;
    case 'done':
      return '✓ done';
    case 'failed':
      return '✕ failed';
    case 'cancelled':
      return '○ cancelled';
  }
}

export function NoSuchBranch() {
  return (
    <Empty todo={<a href={hrefOf({ view: 'whatif', parts: [], query: {} })}>All branches, and a new one</a>}>
      There is no branch of this name any more: it was thrown away, or the server was started anew.
    </Empty>
  );
}
