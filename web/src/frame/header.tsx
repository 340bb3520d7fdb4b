import type { ComponentChildren } from 'preact';
import { signOut } from '../state/live.js';
import * as store from '../state/store.js';
import { CopyButton, Select } from '../ui/controls.js';
import { Name } from '../ui/name.js';
import { openSearch } from './search.js';

const nextTheme: Record<store.Theme, store.Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const themeWords: Record<store.Theme, string> = { auto: 'as the system', light: 'light', dark: 'dark' };
const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Header() {
  const log = store.log.value;
  const theme = store.theme.value;
  return (
    <header class="header">
      <button
        class="button quiet icon nav-button"
        aria-label="Views"
        aria-expanded={store.navOpen.value}
        onClick={() => (store.navOpen.value = !store.navOpen.value)}
      >
        <Icon path="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
      </button>
      <a class="brand" aria-label="Hindsight" href={store.hrefOf({ view: 'overview', parts: [], query: {} })}>
        <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
          <path d="M3 24h26" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" opacity=".4" />
          <path
            d="M4 16l6-6 5 4 6-9 7 8"
            fill="none"
            stroke="currentColor"
            stroke-width="2.5"
            stroke-linecap="round"
            stroke-linejoin="round"
          />
          <circle cx="13" cy="24" r="4.5" fill="currentColor" />
        </svg>
        <span>Hindsight</span>
      </a>
      <span class="log-name" title={log ? `${log.kind} log ${log.name}, release ${log.release}` : undefined}>
        {log && <Name text={lastPart(log.name)} short={40} />}
      </span>
      {log && log.domains.length > 1 && (
        <Select
          label="Admission domain"
          value={log.domain ?? ''}
          options={log.domains.map((d) => ({ value: d, text: d }))}
          onChange={store.lookAtDomain}
        />
      )}
      {store.branch.value && (
        <span class="branch-sign">
          <span class="kind">branch</span>
          <Name text={store.branchInfo.value?.name ?? store.branch.value} short={24} />
          <button class="link" onClick={() => store.lookAtBranch(undefined)} title="Back to what was">
            leave
          </button>
        </span>
      )}
      <button class="search-button" onClick={openSearch} aria-keyshortcuts="/ Control+K">
        <Icon path="M7 3a4 4 0 1 0 .01 0ZM10 10l3.5 3.5" />
        <span class="search-words">Search or jump</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <div class="header-end">
        <button
          class="button quiet explain-button"
          aria-pressed={store.panelOpen.value}
          aria-controls="explanation"
          title={`${store.panelOpen.value ? 'Close' : 'Open'} the explanation (w)`}
          onClick={() => store.showPanel(!store.panelOpen.peek())}
        >
          <Icon path="M2.5 3.5h11v9h-11ZM9.5 3.5v9" />
          <span class="wide">Explain</span>
        </button>
        <button
          class="button quiet icon"
          title={`Colours: ${themeWords[theme]}`}
          aria-label={`Colours: ${themeWords[theme]}; change`}
          onClick={() => {
            store.theme.value = nextTheme[theme];
            store.keep('theme', store.theme.value);
          }}
        >
          {theme === 'auto' ? (
            <Icon path="M8 3a5 5 0 1 0 .01 0ZM8 3v10" fill="M8 3a5 5 0 0 1 0 10Z" />
          ) : theme === 'light' ? (
            <Icon path="M8 5.5a2.5 2.5 0 1 0 .01 0ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1" />
          ) : (
            <Icon path="M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6Z" />
          )}
        </button>
        <ZoneSelect />
        <CopyButton text={store.shareAddress} title="Copy the address of this view at this moment">
          <Icon path="M6.5 9.5l3-3M7 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4L5 7.5" />
          <span class="wide">Share</span>
        </CopyButton>
        {store.signedIn.value && (
          <button class="button quiet" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
        <button class="button quiet icon" aria-label="All keys" title="All keys (?)" onClick={() => (store.keysOpen.value = true)}>
          ?
        </button>
      </div>
    </header>
  );
}

function ZoneSelect() {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
  const zone = store.zone.value;
  const options = [
    { value: 'UTC', text: 'UTC' },
    { value: 'local', text: `Local (${local})` },
  ];
  for (const name of known) if (name !== 'UTC') options.push({ value: name, text: name.replaceAll('_', ' ') });
  if (!options.some((o) => o.value === zone)) options.push({ value: zone, text: zone });
  return (
    <div class="zone">
      <Select
        label="Time zone"
        value={zone}
        options={options}
        onChange={(value) => {
          store.zone.value = value;
          store.keep('zone', value);
        }}
      />
    </div>
  );
}

export function Icon({ path, fill, children }: { path: string; fill?: string; children?: ComponentChildren }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={path} />
      {fill && <path d={fill} fill="currentColor" stroke="none" />}
      {children}
    </svg>
  );
}

/** A file without its folders; the topics of Kafka whole. */
function lastPart(name: string): string {
  return name.startsWith('kafka:')
    ? name.slice(6)
    : (name
        .replace(/^sqlite:/, '')
        .split('/')
        .filter(Boolean)
        .at(-1) ?? name);
}
