import { join } from 'node:path';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import { ACTIONS, createCutoverRouter, type RouteParts } from './cutover-routes.ts';

/** Returns the page that shows the cut-over, and lets operators change it. */
export function cutoverPage(parts: RouteParts): OperatorPage {
  return {
    name: 'cutover',
    title: 'Cut-over',
    position: 41,
    folder: join(import.meta.dirname, 'pages'),
    notice() {
      const { phase } = parts.store.latest();
      return phase === 'running' ? undefined : `cut-over ${phase}`;
    },
    actions: ACTIONS,
    data: (guard) => createCutoverRouter(parts, [guard]),
  };
}
