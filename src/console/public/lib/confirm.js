import { html, useLayoutEffect, useId, useRef } from './html.js';

/** A dialog that is open as long as it is there; Escape and the button give it up, and focus goes back by itself. */
export function Dialog({ title, onClose, children }) {
  const dialog = useRef(/** @type {any} */ (null));
  const gone = useRef(false);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const own = dialog.current;
    own.showModal();
    return () => {
      gone.current = true;
      // While a dialog is open, nothing outside of it takes the focus.
      own.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  // The browser tells of a closed dialog later, when another one may be open already.
  const close = () => gone.current || onClose();
  return html`<dialog ref=${dialog} aria-labelledby=${id} onCancel=${close} onClose=${close}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </dialog>`;
}

/** A question before something is changed that cannot be taken back. */
export function Confirm({ title, text, action, onConfirm, onClose, busy }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p>${text}</p>
    <div class="row end">
      <button type="button" onClick=${onClose}>Cancel</button>
      <button type="button" class="primary" disabled=${busy} onClick=${onConfirm}>${action}</button>
    </div>
  <//>`;
}
