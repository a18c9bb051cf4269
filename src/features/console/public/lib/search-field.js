import { html } from './html.js';

/** A field for the text that a list is filtered by. `onText` receives the text whenever it changes. */
export function SearchField({ label = 'Text', value, placeholder, onText, grows = true }) {
  return html`<label class=${grows ? 'grow' : undefined}>
    <span>${label}</span>
    <input
      type="search"
      value=${value}
      placeholder=${placeholder}
      onInput=${(event) => onText(event.currentTarget.value)}
    />
  </label>`;
}
