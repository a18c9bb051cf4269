import { html } from '../lib/html.js';

/** Text in which words in backticks are formatted as code. */
export function Words({ text }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** Text that can have several paragraphs. Words in backticks are formatted as code. */
export function Prose({ text }) {
  return text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== '')
    .map((part) => html`<p><${Words} text=${part.trim()} /></p>`);
}

/** The tone and the words of each provenance. docs/provenance.md defines their meanings. */
const KNOWN = {
  stated: ['good', 'stated in the specification'],
  observed: ['good', 'type stated, values only observed'],
  inferred: ['warn', 'inferred, not stated'],
  'not shown': ['bad', 'named, but not shown'],
};

/** A badge that shows the provenance of a fact. */
export function Provenance({ is, of = '' }) {
  if (is === undefined) return null;
  const [tone, words] = KNOWN[is] ?? ['', is];
  return html`<span class=${`badge ${tone}`}>${of === '' ? '' : `${of}: `}${words}</span>`;
}
