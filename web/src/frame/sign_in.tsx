import { useState } from 'preact/hooks';
import { Refusal } from '../api/client.js';
import { signIn } from '../state/live.js';

export function SignIn() {
  const [message, setMessage] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = String(new FormData(form).get('token') ?? '').trim();
    if (!token) {
      setMessage('A token is needed.');
      return;
    }
    setBusy(true);
    try {
      await signIn(token);
    } catch (error) {
      setMessage(error instanceof Refusal ? [error.message, error.remedy].filter(Boolean).join(' ') : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event as unknown as SubmitEvent)}>
        <h1>Hindsight</h1>
        <p>Sign in with a token of the cluster. You see the objects of the namespaces in which you may get them.</p>
        <label class="field">
          <span class="field-label">Bearer token</span>
          <input
            type="password"
            name="token"
            autocomplete="off"
            spellcheck={false}
            aria-invalid={!!message}
            aria-describedby="sign-in-message"
          />
        </label>
        <p id="sign-in-message" class="sign-in-message" role="alert">
          {message}
        </p>
        <button class="button primary" type="submit" disabled={busy}>
          {busy ? 'Signing in' : 'Sign in'}
        </button>
        <p class="view-note">
          A service account's token: <code>kubectl create token NAME -n NAMESPACE</code>
        </p>
      </form>
    </main>
  );
}
