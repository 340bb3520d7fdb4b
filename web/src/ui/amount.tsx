import type { Amount as AmountType } from '../api/types.js';
import { formatCount } from './format.js';

export function Amount({ of, how }: { of: AmountType; how?: string }) {
  return (
    <span class="figure" title={how ?? `${of.value.toLocaleString('en-US')} thousandths`}>
      {of.text}
    </span>
  );
}

/** "7 / 8": used of nominal. */
export function AmountOf({ of, nominal, how }: { of: AmountType; nominal: AmountType; how?: string }) {
  return (
    <span class="figure" title={how ?? `${of.text} of the nominal quota of ${nominal.text}`}>
      {of.text}
      <span class="of"> / {nominal.text}</span>
    </span>
  );
}

/** A number that can be asked: hover says how it is computed, a click goes to what it counts. */
export function Count({ of, how, href }: { of: number; how?: string; href?: string }) {
  const text = formatCount(of);
  return href ? (
    <a class="figure" href={href} title={how}>
      {text}
    </a>
  ) : (
    <span class="figure" title={how}>
      {text}
    </span>
  );
}
