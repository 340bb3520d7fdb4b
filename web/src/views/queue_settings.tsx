// How a ClusterQueue or a Cohort is set up: its quota by flavor, what it may do to others, its checks, and the LocalQueues that lead to it.
import type { ComponentChildren } from 'preact';
import { pathOf, useView } from '../api/client.js';
import type { OneConfigObject } from '../api/types.js';
import { formatCount, visible } from '../ui/format.js';
import { Name, Ref } from '../ui/name.js';
import { Section } from '../ui/page.js';
import { Seen } from '../ui/states.js';
import { Tree } from '../ui/tree.js';
import { listOf, objectOf, textOf } from './loose.js';
import { conditionOf, quotaLines, usageLines, type QuotaLine, type UsageLine } from './object_words.js';

/** Names of settings and their values in two columns; those that are not set are left out. */
export function Facts({ label, facts }: { label: string; facts: [string, ComponentChildren][] }) {
  const shown = facts.filter(([, value]) => value !== '' && value !== undefined && value !== null && value !== false);
  if (shown.length === 0) return null;
  return (
    <dl class="object-facts" aria-label={label}>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const flavorRef = (name: string) => <Ref to={{ kind: 'ResourceFlavor', name }} />;

export function QuotaTable({ lines, caption = 'Quota, in the order in which flavors are tried' }: { lines: QuotaLine[]; caption?: string }) {
  if (lines.length === 0) return null;
  return (
    <table class="ledger">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Flavor</th>
          <th scope="col">Resource</th>
          <th scope="col" class="right">Nominal quota</th>
          <th scope="col" class="right" title="How much more than its nominal quota it may use">Borrowing limit</th>
          <th scope="col" class="right" title="How much of its nominal quota others may use">Lending limit</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, i) => (
          <tr key={i}>
            <td>{flavorRef(line.flavor)}</td>
            <td><Name text={line.resource} /></td>
            <td class="right figure">{line.nominal}</td>
            <td class="right figure">{line.borrowing || <span class="nothing">none</span>}</td>
            <td class="right figure">{line.lending || <span class="nothing">none</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function UsageTable({ lines }: { lines: UsageLine[] }) {
  if (lines.length === 0) return null;
  const borrows = lines.some((line) => line.borrowed !== '');
  return (
    <table class="ledger">
      <caption>Reserved and in use</caption>
      <thead>
        <tr>
          <th scope="col">Flavor</th>
          <th scope="col">Resource</th>
          <th scope="col" class="right" title="By Workloads that hold quota, admitted or not">Reserved</th>
          <th scope="col" class="right" title="By Workloads that are admitted">In use</th>
          {borrows && <th scope="col" class="right" title="Of what is reserved, beyond its nominal quota">Borrowed</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map((line, i) => (
          <tr key={i}>
            <td>{flavorRef(line.flavor)}</td>
            <td><Name text={line.resource} /></td>
            <td class="right figure">{line.reserved}</td>
            <td class="right figure">{line.used}</td>
            {borrows && <td class="right figure">{line.borrowed || '0'}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function UsedBy({ of, title, nobody }: { of: Pick<OneConfigObject, 'usedBy' | 'usedByLeftOut'>; title: string; nobody: string }) {
  return (
    <Section title={<>{title} <span class="figure">{formatCount(of.usedBy.length + of.usedByLeftOut)}</span></>}>
      {of.usedBy.length === 0 ? (
        <p class="nothing">{nobody}</p>
      ) : (
        <ul class="object-users">
          {of.usedBy.map((ref, i) => (
            <li key={i}><Ref to={ref} kind /></li>
          ))}
          {of.usedByLeftOut > 0 && <li class="nothing">and {formatCount(of.usedByLeftOut)} more</li>}
        </ul>
      )}
    </Section>
  );
}

export function QueueSettings({ of, name }: { of: unknown; name: string }) {
  const seen = useView<OneConfigObject>(pathOf('objects', 'clusterqueues', name));
  const spec = objectOf(objectOf(of)['spec']);
  const fungibility = objectOf(spec['flavorFungibility']);
  const preemption = objectOf(spec['preemption']);
  const borrow = objectOf(preemption['borrowWithinCohort']);
  const checks = listOf(objectOf(spec['admissionChecksStrategy'])['admissionChecks']);
  const active = conditionOf(of, 'Active');
  const status = objectOf(objectOf(of)['status']);
  return (
    <>
      <Section title="How it is set up">
        <div class="object-parts">
          <Facts
            label={`Settings of the ClusterQueue ${visible(name)}`}
            facts={[
              ['Active', active.status && `${active.status === 'True' ? 'yes' : 'no'}${active.reason ? `: ${visible(active.reason)}` : ''}`],
              ['Cohort', textOf(spec['cohortName']) && <Ref to={{ kind: 'Cohort', name: textOf(spec['cohortName']) }} />],
              ['Queueing strategy', textOf(spec['queueingStrategy'])],
              ['Stop policy', textOf(spec['stopPolicy'])],
              ['Preemption within the ClusterQueue', textOf(preemption['withinClusterQueue'])],
              ['Reclaim within the Cohort', textOf(preemption['reclaimWithinCohort'])],
              ['Borrow within the Cohort', textOf(borrow['policy'])],
              ['When it can borrow', textOf(fungibility['whenCanBorrow'])],
              ['When it can preempt', textOf(fungibility['whenCanPreempt'])],
              ['Fair share weight', textOf(objectOf(spec['fairSharing'])['weight'])],
              ['Weighted share', String(objectOf(status['fairSharing'])['weightedShare'] ?? '')],
              ['Admission checks', checks.length > 0 && checks.map((check, i) => <span key={i}>{i > 0 && ', '}<Ref to={{ kind: 'AdmissionCheck', name: textOf(check['name']) }} /></span>)],
            ]}
          />
          <QuotaTable lines={quotaLines(of)} />
          <UsageTable lines={usageLines(of)} />
        </div>
      </Section>
      <Seen of={seen} words={{ empty: '', broken: 'The LocalQueues of this ClusterQueue could not be listed.', forbidden: 'You may not see its LocalQueues.', absent: 'Its LocalQueues are not on record.' }} skeleton={{ rows: 2 }}>
        {(told) => <UsedBy of={told} title="LocalQueues" nobody="No LocalQueue that you may see leads here." />}
      </Seen>
      <AllFields of={of} />
    </>
  );
}

export function CohortSettings({ name }: { name: string }) {
  const seen = useView<OneConfigObject>(pathOf('objects', 'cohorts', name));
  return (
    <Seen of={seen} words={{ empty: '', broken: 'How this Cohort is set up could not be told.', forbidden: 'You may not see how this Cohort is set up.', absent: 'There is no Cohort of this name at this moment.' }} skeleton={{ rows: 3 }}>
      {(told) => {
        const spec = objectOf(objectOf(told.object)['spec']);
        const lines = quotaLines(told.object);
        return (
          <>
            <Section title="How it is set up">
              <div class="object-parts">
                <Facts
                  label={`Settings of the Cohort ${visible(name)}`}
                  facts={[
                    ['Parent', textOf(spec['parentName']) && <Ref to={{ kind: 'Cohort', name: textOf(spec['parentName']) }} />],
                    ['Fair share weight', textOf(objectOf(spec['fairSharing'])['weight'])],
                    ['Weighted share', String(objectOf(objectOf(objectOf(told.object)['status'])['fairSharing'])['weightedShare'] ?? '')],
                    ['Quota of its own', lines.length === 0 && 'none: it has what its members have'],
                  ]}
                />
                <QuotaTable lines={lines} caption="Quota of its own" />
              </div>
            </Section>
            <AllFields of={told.object} />
          </>
        );
      }}
    </Seen>
  );
}

/** The object as the log knows it. */
export function AllFields({ of }: { of: unknown }) {
  return (
    <details class="object-fields">
      <summary>All fields</summary>
      <Tree of={of} open={3} label="Fields of the object" />
    </details>
  );
}
