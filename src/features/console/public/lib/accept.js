import { post } from './api.js';
import { FormDialog } from './confirm.js';
import { html } from './html.js';

/**
 * The dialog with which somebody accepts a violation. `data` has its fingerprint and message, what is accepted already, and
 * the file of accepted violations.
 */
export function Accept({ data, onDone, onClose }) {
  const send = (form) => post(`violations/${encodeURIComponent(data.fingerprint)}/accept`, form);
  // The form initially contains the current values, because submitting an empty date would remove the expiry.
  const { reason, owner, expires } = data.accepted ?? {};
  return html`<${FormDialog}
    title="Add to the baseline"
    action="Accept"
    send=${send}
    onDone=${onDone}
    onClose=${onClose}
  >
    ${(field) => html`
      <p>${data.message}</p>
      <p class="muted">
        The violation is still counted, but no longer reported as new. The acceptance is written to
        ${data.acceptance.file}.
      </p>
      ${field(
        'reason',
        'Why is it accepted?',
        (more) =>
          html`<textarea rows="3" maxlength="500" required autofocus defaultValue=${reason} ...${more}></textarea>`,
      )}
      ${field(
        'owner',
        'Who is responsible?',
        (more) => html`<input maxlength="100" required defaultValue=${owner} ...${more} />`,
      )}
      ${field(
        'expires',
        'Last day (leave empty for no expiry)',
        (more) => html`<input type="date" defaultValue=${expires} ...${more} />`,
      )}
    `}
  <//>`;
}
