import { html } from './html.js';

/** The error message of a page. It is omitted if the header already shows the same message (`shownError`). */
export function Trouble({ error, shownError }) {
  if (error === undefined || error.message === shownError) return null;
  return html`<p class="note bad" role="alert">${error.message}</p>`;
}

/** The placeholder for a page whose data is still loading or cannot be read. */
export function Reading({ error, shownError }) {
  return error === undefined
    ? html`<p class="muted">Loading…</p>`
    : html`<${Trouble} error=${error} shownError=${shownError} />`;
}
