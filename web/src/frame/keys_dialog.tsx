import { useEffect, useRef } from 'preact/hooks';
import * as store from '../state/store.js';
import { allKeys } from './keys.js';

export function KeysDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = store.keysOpen.value;
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      class="dialog keys"
      aria-label="All keys"
      onClose={() => (store.keysOpen.value = false)}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      {open && (
        <>
          <div class="dialog-head">
            <h2>Keys</h2>
            <button class="button quiet" onClick={() => dialog.current?.close()}>
              Close
            </button>
          </div>
          <dl>
            {allKeys().map((line) => (
              <div key={line.what}>
                <dt>
                  {line.keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{line.what}</dd>
              </div>
            ))}
          </dl>
          <p class="view-note">
            In a table the arrow keys go from row to row and Enter opens one. On the strip the wheel and two fingers zoom, and a drag across
            it zooms into a stretch.
          </p>
          <p class="view-note">
            <a href="licenses.txt">Licences of the libraries in this page</a>
          </p>
        </>
      )}
    </dialog>
  );
}
