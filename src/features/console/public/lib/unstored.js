import { html } from './html.js';

/** Tells that a change, or what else `what` names, took effect but will be lost. */
export const Unstored = ({ what = 'change' }) =>
  html`<p class="note bad" role="alert">
    The ${what} applies, but it could not be stored, so it is lost when the process ends. The log states the reason.
  </p>`;
