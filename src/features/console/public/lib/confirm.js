import { html, useLayoutEffect, useId, useRef } from './html.js';

/**
 * A dialog that stays open for as long as it is rendered. Escape and Cancel close it and return the focus to the
 * previously focused element.
 */
export function Dialog({ title, onClose, children }) {
  const dialog = useRef(/** @type {any} */ (null));
  const closed = useRef(false);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const own = dialog.current;
    own.showModal();
    return () => {
      closed.current = true;
      // No element outside the dialog can receive the focus while the dialog is open.
      own.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  // The browser's notification that a dialog has closed is delayed, and another dialog may already be open by then.
  const close = () => closed.current || onClose();
  return html`<dialog ref=${dialog} aria-labelledby=${id} onCancel=${close} onClose=${close}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </dialog>`;
}

/** A dialog that asks for confirmation of an irreversible change. */
export function Confirm({ title, text, action, onConfirm, onClose, busy }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p>${text}</p>
    <div class="row end">
      <button type="button" onClick=${onClose}>Cancel</button>
      <button type="button" class="primary" disabled=${busy} onClick=${onConfirm}>${action}</button>
    </div>
  <//>`;
}
