import { html } from './html.js';
import { hrefOf } from './route.js';

/** @typedef {{ name: string, title: string, showsOperation: boolean }} ListedPage a page in the console's menu */

const state = { pages: /** @type {readonly ListedPage[]} */ ([]) };

/**
 * Sets the pages of the console, of which those that show an operation are linked. Undefined changes nothing.
 * @param {readonly ListedPage[] | undefined} pages
 */
export function setOperationPages(pages) {
  if (pages !== undefined) state.pages = pages;
}

/** Links to the pages that show an operation, except the page with the title `without`. `home` is the console's address. */
export function OperationLinks({ operation, without, home = '' }) {
  const pages = state.pages.filter(({ showsOperation, title }) => showsOperation && title !== without);
  const links = pages.map(({ name, title }) => [title, `${home}${hrefOf([name], { operation })}`]);
  if (without !== 'API docs') links.push(['API docs', `reference#${operation}`]);
  return html`<span class="links">
    ${links.map(([label, href]) => html`<a key=${label} href=${href} aria-label=${`${label} of ${operation}`}>${label}</a>`)}
  </span>`;
}
