import { html, useLayoutEffect, useId, useRef, useState } from './html.js';

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

/**
 * A dialog with a form. `send` gets the form's values; its result is passed to `onDone`. If it fails, the dialog stays
 * open, and shows the reason and the field that it concerns. `children` is called with a function that returns a labeled
 * field: `field(name, label, input)`, where `input` returns the element with the given attributes.
 */
export function FormDialog({ title, action, send, onDone, onClose, children }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {import('./api.js').ApiError | undefined} */ (undefined));
  const submit = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.currentTarget));
    setBusy(true);
    try {
      onDone(await send(values), values);
    } catch (error) {
      setProblem(/** @type {import('./api.js').ApiError} */ (error));
      setBusy(false);
    }
  };
  const field = (name, label, input) => {
    const wrong = problem?.field === name ? 'true' : undefined;
    return html`<label class="field">
      <span>${label}</span>
      ${input({ name, 'aria-invalid': wrong, 'aria-describedby': wrong && 'problem' })}
    </label>`;
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      ${children(field)} ${problem && html`<p class="note bad" role="alert" id="problem">${problem.message}</p>`}
      <div class="row end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class="primary" disabled=${busy}>${action}</button>
      </div>
    </form>
  <//>`;
}
