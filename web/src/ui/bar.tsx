// A quota as a bar: nominal as the frame; own use, what is borrowed and what others use of it as textures; the limit as a tick.
import type { QuotaBar } from '../api/types.js';

export function QuotaBarView({ bar, scale }: { bar: QuotaBar; scale?: number }) {
  // A scale that is given holds for many bars: what is beyond it is cut, and a sign says so.
  const full = Math.max(1, scale ?? Math.max(bar.nominal.value, bar.used.value, bar.limit?.value ?? 0));
  const cut = Math.max(bar.nominal.value, bar.used.value, bar.limit?.value ?? 0) > full * 1.0001;
  const wide = (value: number) => `${Math.max(0, Math.min(100, (value / full) * 100))}%`;
  const told = [
    `${bar.flavor}/${bar.resource}: ${bar.used.text} used of ${bar.nominal.text} nominal`,
    bar.borrowed.value > 0 ? `${bar.borrowed.text} of it borrowed` : '',
    bar.lent.value > 0 ? `${bar.lent.text} of the nominal quota is lent to others` : '',
    bar.limit ? `at most ${bar.limit.text} with what it may borrow` : '',
  ]
    .filter(Boolean)
    .join(', ');
  const lentFrom = Math.max(bar.own.value, bar.nominal.value - bar.lent.value);
  return (
    <div class={`quota-bar${cut ? ' cut' : ''}`} role="img" aria-label={told} title={told}>
      <div class="quota-own" style={{ width: wide(bar.own.value) }} />
      {bar.lent.value > 0 && <div class="quota-lent" style={{ left: wide(lentFrom), width: wide(bar.nominal.value - lentFrom) }} />}
      {bar.borrowed.value > 0 && (
        <div class="quota-borrowed" style={{ left: wide(bar.used.value - bar.borrowed.value), width: wide(bar.borrowed.value) }} />
      )}
      <div class="quota-nominal" style={{ width: wide(bar.nominal.value) }} />
      {bar.limit && <div class="quota-limit" style={{ left: wide(bar.limit.value) }} />}
    </div>
  );
}

export function Legend({ items }: { items: { pattern: 'own' | 'borrowed' | 'lent' | 'free' | 'limit'; text: string }[] }) {
  return (
    <ul class="legend">
      {items.map((item) => (
        <li key={item.pattern}>
          <span class={`legend-sign quota-${item.pattern}`} aria-hidden="true" />
          {item.text}
        </li>
      ))}
    </ul>
  );
}
