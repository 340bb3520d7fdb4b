import type { WorkloadRow } from '../api/types.js';

type PhaseName = WorkloadRow['phase'];

/** A shape for each phase, so that colour is never the only sign. */
const shapes: Record<PhaseName, string> = {
  Pending: 'M8 3a5 5 0 1 0 .01 0Z',
  QuotaReserved: 'M8 3a5 5 0 1 0 .01 0ZM8 3v10a5 5 0 0 0 0-10Z',
  Admitted: 'M5 3l8 5-8 5Z',
  Evicted: 'M4 4l8 8M12 4l-8 8',
  Finished: 'M3 8.5l3.5 3.5L13 5',
  Inactive: 'M5.5 3.5v9M10.5 3.5v9',
};
const filled: Partial<Record<PhaseName, true>> = { Admitted: true };
const words: Record<PhaseName, string> = {
  Pending: 'Pending',
  QuotaReserved: 'Quota reserved',
  Admitted: 'Admitted',
  Evicted: 'Evicted',
  Finished: 'Finished',
  Inactive: 'Inactive',
};

export function Phase({ of, reason }: { of: PhaseName; reason?: string }) {
  return (
    <span class={`phase phase-${of in shapes ? of : 'Pending'}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path
          d={shapes[of] ?? shapes.Pending}
          fill={filled[of] ? 'currentColor' : 'none'}
          stroke="currentColor"
          stroke-width="1.5"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
        {of === 'QuotaReserved' && <path d="M8 3a5 5 0 0 1 0 10Z" fill="currentColor" />}
      </svg>
      <span>{words[of] ?? of}</span>
      {reason && reason !== of && <small class="reason">{reason}</small>}
    </span>
  );
}
