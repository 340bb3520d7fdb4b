import { hrefAt, place, zone } from '../state/store.js';
import { formatDuration, formatExact, formatRelative, formatTime, timeOf } from './format.js';

interface WhenProps {
  time?: string; // RFC 3339
  micros?: number;
  position?: number; // the record; makes it a link to that moment
  exact?: boolean; // shows the time of day instead of how long ago
}

/** A moment, told from the slider's: "12 s ago". The exact time comes on hover and in copies. */
export function When({ time, micros, position, exact }: WhenProps) {
  const at = time ?? (micros === undefined ? '' : timeOf(micros));
  const full = formatExact(at, zone.value);
  const text = exact ? formatTime(at, zone.value).slice(4) : formatRelative(at, place.value.time || at);
  const shown = (
    <time dateTime={at} title={position === undefined ? full : `${full}, record ${position}`} data-exact={full}>
      {text}
    </time>
  );
  return position === undefined ? (
    shown
  ) : (
    <a class="when" href={hrefAt(position)}>
      {shown}
    </a>
  );
}

export function Lasts({ milliseconds }: { milliseconds: number }) {
  return (
    <span class="figure" title={`${milliseconds.toLocaleString('en-US')} ms`}>
      {formatDuration(milliseconds)}
    </span>
  );
}
