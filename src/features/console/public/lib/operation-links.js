import { html } from './html.js';
import { hrefOf } from './route.js';

/** Links to the pages that show an operation, except the page named `without`. `home` is the console's address. */
export function OperationLinks({ operation, without, home = '' }) {
  const links = {
    Traffic: `${home}${hrefOf(['traffic'], { operation })}`,
    Violations: `${home}${hrefOf(['violations'], { operation })}`,
    Ladder: `${home}${hrefOf(['ladder'], { operation })}`,
    'API docs': `reference#${operation}`,
  };
  return html`<span class="links">
    ${Object.entries(links)
      .filter(([label]) => label !== without)
      .map(([label, href]) => html`<a key=${label} href=${href} aria-label=${`${label} of ${operation}`}>${label}</a>`)}
  </span>`;
}
