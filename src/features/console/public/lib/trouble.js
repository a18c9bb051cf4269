import { html } from './html.js';

/** A page's error message. It is omitted if the header already shows it (`shownError`). */
export function Trouble({ error, shownError }) {
  if (error === undefined || error.message === shownError) return null;
  return html`<p class="note bad" role="alert">${error.message}</p>`;
}

/** A placeholder shown while a page's data is loading or when it cannot be read. */
export function Reading({ error, shownError }) {
  if (error === undefined) return html`<p class="muted">Loading…</p>`;
  return html`<${Trouble} error=${error} shownError=${shownError} />
    <p class="muted">There is nothing to show until the gateway responds.</p>`;
}
