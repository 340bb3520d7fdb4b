// Where one is, in words, and the buttons that move.
import { useEffect, useRef, useState } from 'preact/hooks';
import { getPlain } from '../api/client.js';
import type { Place } from '../api/types.js';
import * as store from '../state/store.js';
import { placeMicros } from '../state/timeline.js';
import { Segments, Select } from '../ui/controls.js';
import { formatCount, formatExact, formatTime, timeOf, visible, zoneOffset } from '../ui/format.js';
import { Icon } from './header.js';
import { by, fittingSpeed, playing, speed, speeds, step, stepText, toEdge, togglePlay, type By } from './step.js';

export function MomentLine() {
  const { position, time } = store.place.value;
  const zone = store.zone.value;
  const shown = time || timeOf(placeMicros.value);
  const following = store.at.value === 'now';
  const [asking, setAsking] = useState(false);
  const live = store.log.value?.live && !store.branch.value;
  useEffect(() => {
    const ask = () => setAsking(true);
    addEventListener('hindsight-moment', ask);
    return () => removeEventListener('hindsight-moment', ask);
  }, []);
  const chosen = store.selected.value;
  return (
    <div class="moment" role="group" aria-label="Moment">
      {asking ? (
        <GoToMoment done={() => setAsking(false)} />
      ) : (
        <button
          class="moment-time"
          onClick={() => setAsking(true)}
          title={shown ? `${formatExact(shown, zone)}. Click to go to another moment.` : undefined}
        >
          <time dateTime={shown} data-exact={formatExact(shown, zone)}>
            {shown ? formatTime(shown, zone) : '–'}
          </time>
        </button>
      )}
      <a
        class="moment-record"
        href={store.hrefOf({ view: 'records', parts: position ? [String(position)] : [], query: {} })}
        title="See this record"
      >
        record {formatCount(position)}
      </a>
      <div class="moment-steps">
        <Step label="To the first record" onClick={() => toEdge('first')} path="M4 3.5v9M12.5 3.5L6.5 8l6 4.5Z" />
        <Step label={`One ${by.value} back`} onClick={() => void step('back')} path="M10.5 3.5L5 8l5.5 4.5Z" />
        <Step label={`One ${by.value} forward`} onClick={() => void step('forward')} path="M5.5 3.5L11 8l-5.5 4.5Z" />
        <Step label="To the last record" onClick={() => toEdge('last')} path="M12 3.5v9M3.5 3.5l6 4.5-6 4.5Z" />
      </div>
      <Segments<By>
        label="Step by"
        value={by.value}
        onChange={(value) => (by.value = value)}
        options={[
          { value: 'record', text: 'record', title: 'Each record' },
          { value: 'decision', text: 'decision', title: 'Each record with decisions' },
          {
            value: 'event',
            text: 'event',
            title: chosen ? `Each record that changed ${chosen.kind} ${visible(chosen.name)}` : 'Each record that changed what is selected',
          },
        ]}
      />
      <div class="moment-play">
        <button
          class="button quiet icon"
          aria-label={playing.value ? 'Stop' : 'Play'}
          aria-pressed={playing.value}
          title={playing.value ? 'Stop (space)' : 'Play (space)'}
          onClick={togglePlay}
        >
          {playing.value ? <Icon path="M5.5 3.5v9M10.5 3.5v9" /> : <Icon path="M4.5 3l8 5-8 5Z" />}
        </button>
        <Select
          label="Speed"
          value={String(speed.value ?? fittingSpeed())}
          onChange={(value) => (speed.value = Number(value))}
          options={speeds.map((s) => ({ value: String(s), text: `${formatCount(s)}×` }))}
        />
      </div>
      <button
        class="button follow"
        aria-pressed={following}
        onClick={() => store.moveTo(following ? store.place.peek().position : 'now')}
        title={live ? 'Follow the newest record (n)' : 'Stand at the last record (n)'}
      >
        <span class={`follow-sign${following && live && store.connection.value === 'open' ? ' live' : ''}`} aria-hidden="true" />
        {live ? (following ? 'following now' : 'follow now') : following ? 'at the end' : 'to the end'}
      </button>
      <p class="moment-text" role="status" aria-live="polite" title={visible(stepText.value)}>
        <bdi>{visible(stepText.value)}</bdi>
      </p>
    </div>
  );
}

function Step({ label, onClick, path }: { label: string; onClick: () => void; path: string }) {
  return (
    <button class="button quiet icon" aria-label={label} title={label} onClick={onClick}>
      <Icon path={path} />
    </button>
  );
}

/** Anything that people type: now, -1d, 14:03, a date, a position. */
function GoToMoment({ done }: { done: () => void }) {
  const [message, setMessage] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const go = async (text: string) => {
    const refused = await goToMoment(text);
    if (refused) setMessage(refused);
    else done();
  };
  return (
    <form
      class="moment-ask"
      onSubmit={(event) => {
        event.preventDefault();
        void go(input.current?.value ?? '');
      }}
    >
      <input
        ref={input}
        class="box"
        aria-label="Go to moment"
        aria-invalid={!!message}
        placeholder="14:03, -1d, a record, now"
        spellcheck={false}
        onBlur={() => !message && done()}
        onInput={() => setMessage('')}
        onKeyDown={(event) => {
          if (event.key === 'Escape') done();
        }}
      />
      {message && (
        <span class="moment-refused" role="alert">
          {message}
        </span>
      )}
    </form>
  );
}

/** Moves to what was typed; the answer is why not, or ''. */
export async function goToMoment(text: string): Promise<string> {
  const typed = text.trim();
  if (!typed) return '';
  if (typed === 'now') {
    store.moveTo('now');
    return '';
  }
  try {
    const place = await getPlain<Place>('moment', {
      text: typed,
      tz: zoneOffset(store.zone.peek(), store.place.peek().time || timeOf(placeMicros.peek())),
    });
    store.moveTo(place.position, { time: place.time });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
