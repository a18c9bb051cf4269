import { html } from '../lib/html.js';
import { Ladder } from './ladder.js';
import { Overrides } from './overrides.js';

/** The page that shows which levels differ from the configuration, who changed them and why, and what may follow. */
export function Page(given) {
  return html`
    <h1>Levels</h1>
    <p class="muted">
      An override of an operator precedes the ladder, and the ladder precedes the levels in the configuration.
    </p>
    <${Overrides} ...${given} />
    <${Ladder} ...${given} />
  `;
}
