import { html } from './html.js';

/** What went wrong on a page; nothing where the head of all pages tells the same (`told`). */
export function Trouble({ error, told }) {
  if (error === undefined || error.message === told) return null;
  return html`<p class="note bad" role="alert">${error.message}</p>`;
}

/** What stands for a page whose data is not there yet, or cannot be read. */
export function Reading({ error, told }) {
  return error === undefined ? html`<p class="muted">Reading…</p>` : html`<${Trouble} error=${error} told=${told} />`;
}
