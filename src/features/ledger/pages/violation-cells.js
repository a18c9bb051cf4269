import { Sparkline } from '../lib/chart.js';
import { count, NONE, plural } from '../lib/format.js';
import { html } from '../lib/html.js';

/** The number of occurrences in each of the last 24 hours. */
export function Hours({ history }) {
  if (history === undefined) return NONE;
  const sum = history.hours.reduce((all, one) => all + one, 0);
  const label = `${plural(sum, 'occurrence')} in the last 24 hours, ${count(history.hours.at(-1))} in the current hour`;
  return html`<${Sparkline} hours=${history.hours} label=${label} />`;
}

/** Returns a badge that shows a violation's state. */
export function stateOf({ accepted }) {
  if (accepted === undefined) return html`<span class="badge warn">new</span>`;
  return accepted.expired
    ? html`<span class="badge bad">expired</span>`
    : html`<span class="badge good">accepted</span>`;
}

const LEVEL_TONES = { enforce: 'good', report: 'warn', off: '' };

/** Returns a badge that shows the level of a violation's check. The row has none if it never leads to a refusal. */
export function levelOf({ level }) {
  return level === undefined ? NONE : html`<span class=${`badge ${LEVEL_TONES[level]}`}>${level}</span>`;
}
