// The frame around every view: header, strip, moment line, navigation, the view, the explanation, and what is to be said at the bottom.
import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSignalEffect } from '@preact/signals';
import * as store from '../state/store.js';
import { connectNow } from '../state/live.js';
import { ViewHead } from '../ui/page.js';
import { Broken, Empty, Loading } from '../ui/states.js';
import { formatTime } from '../ui/format.js';
import { views } from '../views/registry.js';
import { Explanation } from './explanation.js';
import { Header } from './header.js';
import { KeysDialog } from './keys_dialog.js';
import { MomentLine } from './moment_line.js';
import { Navigation } from './navigation.js';
import { SearchDialog } from './search.js';
import { SignIn } from './sign_in.js';
import { Strip } from './strip.js';

export function App() {
  useSignalEffect(() => {
    document.documentElement.dataset['theme'] = store.darkNow.value ? 'dark' : 'light';
  });
  useSignalEffect(() => {
    const { view, parts } = store.route.value;
    const moment = store.at.value === 'now' ? 'now' : formatTime(store.place.value.time, store.zone.value);
    document.title = [parts.at(-1), views[view]?.title ?? 'Not found', moment, 'Hindsight'].filter(Boolean).join(' · ');
  });
  if (store.connection.value === 'signedOut') return <SignIn />;
  return (
    <div class={`frame${store.panelOpen.value ? ' with-panel' : ''}${store.navOpen.value ? ' with-nav' : ''}`}>
      <a
        class="skip"
        href="#view"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('view')?.focus();
        }}
      >
        Skip to the view
      </a>
      <Header />
      <section class="time" aria-label="Time">
        <Strip />
        <MomentLine />
      </section>
      <Navigation />
      <main id="view" class="view" tabIndex={-1}>
        <CurrentView />
      </main>
      <Explanation />
      <Notices />
      <SearchDialog />
      <KeysDialog />
    </div>
  );
}

const loaded = new Map<string, ComponentType>();

function CurrentView() {
  const { view, parts } = store.route.value;
  const entry = views[view];
  const [, rerender] = useState(0);
  const [message, setMessage] = useState('');
  const at = useRef('');
  useEffect(() => {
    setMessage('');
    if (!entry || loaded.has(view)) return;
    let gone = false;
    entry.load().then(
      (module) => {
        loaded.set(view, module.default);
        if (!gone) rerender((n) => n + 1);
      },
      () => !gone && setMessage('This view could not be loaded.'),
    );
    return () => {
      gone = true;
    };
  }, [view]);
  const Shown = loaded.get(view);
  useEffect(() => {
    // Who comes to another view by a link or key reads on at its head; at the first load the focus stays where the browser put it.
    const here = `${view}/${parts.join('/')}`;
    if (at.current && at.current !== here && Shown) document.querySelector<HTMLElement>('#view h1')?.focus({ preventScroll: true });
    if (at.current !== here) document.getElementById('view')?.scrollTo(0, 0);
    if (Shown) at.current = here;
  });
  if (!entry) {
    return (
      <>
        <ViewHead title="Not found" />
        <Empty todo={<a href={store.hrefOf({ view: 'overview', parts: [], query: {} })}>Go to the overview.</a>}>
          There is no view of this name.
        </Empty>
      </>
    );
  }
  if (message) return <Broken todo="The server was probably updated: load the page again.">{message}</Broken>;
  if (!Shown) return <Loading rows={10} />;
  return (
    <Guard key={view}>
      <Shown />
    </Guard>
  );
}

/** A mistake in one view leaves the others alone. */
class Guard extends Component<{ children: ComponentChildren }, { failed?: string | undefined }> {
  override state: { failed?: string | undefined } = {};
  override componentDidCatch(error: unknown) {
    console.error(error);
    this.setState({ failed: error instanceof Error ? error.message : String(error) });
  }
  override render() {
    if (this.state.failed === undefined) return this.props.children;
    return (
      <Broken
        todo={
          <button class="link" onClick={() => this.setState({ failed: undefined })}>
            Try again
          </button>
        }
      >
        This view cannot draw what the server told: {this.state.failed}
      </Broken>
    );
  }
}

function Notices() {
  const gone = store.connection.value === 'gone';
  return (
    <div class="notices" role="status" aria-live="polite">
      {gone && (
        <p>
          The server does not answer. What is shown stays; the page goes on by itself.{' '}
          <button class="link" onClick={connectNow}>
            Ask now
          </button>
        </p>
      )}
      {store.notice.value && (
        <p>
          {store.notice.value}{' '}
          <button class="link" onClick={() => (store.notice.value = '')}>
            Close
          </button>
        </p>
      )}
    </div>
  );
}
