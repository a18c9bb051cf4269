import { html } from '../lib/html.js';

/** A text in which words between backticks are formatted as code. */
export function Words({ text }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** A text with several paragraphs, in which words between backticks are formatted as code. */
export function Prose({ text }) {
  return text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== '')
    .map((part) => html`<p><${Words} text=${part.trim()} /></p>`);
}

const KNOWN = {
  observed: ['good', 'observed on the legacy server'],
  inferred: ['warn', 'inferred, not observed'],
  'not shown': ['bad', 'not shown in the specification'],
};

/** A badge that shows where a fact comes from. */
export function Provenance({ is, of = '' }) {
  if (is === undefined) return null;
  const [tone, title] = KNOWN[is] ?? ['', ''];
  return html`<span class=${`badge ${tone}`} title=${title}>${of === '' ? '' : `${of}: `}${is}</span>`;
}
