import { html } from './html.js';

/** Tells that a change took effect but will be lost. */
export const Unstored = () =>
  html`<p class="note bad" role="alert">
    The change applies, but it could not be stored, so it is lost when the process ends. The log states the reason.
  </p>`;
