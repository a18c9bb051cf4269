import { html } from '../lib/html.js';

/** A sentence in which words between backticks are code. */
export function Words({ text }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** Paragraphs of such sentences. */
export function Prose({ text }) {
  return text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== '')
    .map((part) => html`<p><${Words} text=${part.trim()} /></p>`);
}

const KNOWN = {
  observed: ['good', 'seen at the legacy server'],
  inferred: ['warn', 'concluded, not seen'],
  'not shown': ['bad', 'left open by the specification'],
};

/** How a fact is known. */
export function Provenance({ is, of = '' }) {
  if (is === undefined) return null;
  const [tone, title] = KNOWN[is] ?? ['', ''];
  return html`<span class=${`badge ${tone}`} title=${title}>${of === '' ? '' : `${of}: `}${is}</span>`;
}
