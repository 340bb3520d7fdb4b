// "Would it fit": a gang as one types it, and where it would go; and which gang is lit on the map.
import { useState } from 'preact/hooks';
import type { Fit } from '../api/types.js';
import { Button, Field, Select } from '../ui/controls.js';
import { formatCount, plural } from '../ui/format.js';
import { Ref, workloadRef } from '../ui/name.js';
import { faultOfGang } from './gang_words.js';

type Query = Record<string, string>;

export function FitForm({ levels, resources, query, onAsk }: { levels: string[]; resources: string[]; query: Query; onAsk: (changes: Record<string, string | undefined>) => void }) {
  const [pods, setPods] = useState(query['pods'] ?? '4');
  const [requests, setRequests] = useState(query['requests'] ?? `${resources.find((r) => r !== 'pods') ?? 'cpu'}=1`);
  const [level, setLevel] = useState(query['level'] ?? levels[Math.max(0, levels.length - 2)] ?? '');
  const [mode, setMode] = useState(query['mode'] ?? 'required');
  const fault = faultOfGang(pods, requests);
  return (
    <form
      class="fit-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!fault) onAsk({ pods: pods.trim(), requests: requests.trim(), level: mode === 'unconstrained' ? undefined : level, mode });
      }}
    >
      <Field label="Pods" showLabel value={pods} onInput={setPods} width={72} />
      <Field label="Each asks for" showLabel value={requests} onInput={setRequests} placeholder="cpu=1,memory=2Gi" width={224} />
      <Select
        label="Placement"
        showLabel
        value={mode}
        options={[
          { value: 'required', text: 'required in one' },
          { value: 'preferred', text: 'preferred in one' },
          { value: 'unconstrained', text: 'anywhere' },
        ]}
        onChange={setMode}
      />
      {mode !== 'unconstrained' && <Select label="Level" showLabel value={level} options={levels.map((l) => ({ value: l, text: l }))} onChange={setLevel} />}
      <span class="fit-buttons">
        <Button type="submit" disabled={fault !== undefined}>Ask</Button>
        {query['pods'] && <Button quiet onClick={() => onAsk({ pods: undefined, level: undefined, mode: undefined })}>Clear</Button>}
      </span>
      <p class="fault" role="status">{fault ?? ''}</p>
    </form>
  );
}

const shownAtMost = 12;

export function FitShown({ fit }: { fit: Fit }) {
  const domains = fit.domains.slice(0, shownAtMost);
  const more = fit.domains.length - domains.length + (fit.leftOut ?? 0);
  return (
    <div class="fit-shown">
      <p class={fit.fits ? 'fits' : 'fits-not'}>
        <strong>{fit.fits ? '✓ It fits.' : '✕ It does not fit.'}</strong> <bdi>{fit.sentence}</bdi>
        {fit.flavor && <> <small>flavor <bdi>{fit.flavor}</bdi></small></>}
      </p>
      {domains.length > 0 && (
        <table class="ledger">
          <caption>Where its pods would go; the same places are outlined on the map</caption>
          <thead>
            <tr>
              <th scope="col">Domain</th>
              <th scope="col" class="right">Pods</th>
            </tr>
          </thead>
          <tbody>
            {domains.map((domain) => (
              <tr key={domain.path.join('\n')}>
                <td>
                  {domain.path.map((name, i) => (
                    <span key={i}>{i > 0 && ' › '}<bdi>{name}</bdi></span>
                  ))}
                </td>
                <td class="right figure">{formatCount(domain.pods)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more > 0 && <p class="nothing">and {plural(more, 'domain')} more</p>}
    </div>
  );
}

export function GangChooser({ gang, pods, domains, lowest, onChange }: { gang: string | undefined; pods: number; domains: number; lowest: string; onChange: (workload: string) => void }) {
  return (
    <span class="gang-chooser">
      <Field label="Light a Workload" showLabel placeholder="NAMESPACE/NAME" value={gang ?? ''} delay={400} onInput={onChange} width={232} />
      {gang && (
        <span class="gang-told" role="status">
          {pods > 0 ? (
            <>
              <i class="sign-gang" aria-hidden="true" /> {plural(pods, 'pod')} of <Ref to={workloadRef(gang)} namespaced={false} /> on {plural(domains, lowest)}
            </>
          ) : (
            <>no pod of it is placed here now</>
          )}
        </span>
      )}
    </span>
  );
}
