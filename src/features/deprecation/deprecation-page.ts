import { join } from 'node:path';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import { nextBrownout } from './deprecated-entries.ts';
import { ACTIONS, createDeprecationRouter, type RouteParts } from './deprecation-routes.ts';

/** Returns the page that shows what is deprecated and who still uses it, and lets operators revoke brown-outs. */
export function deprecationPage(parts: RouteParts): OperatorPage {
  return {
    name: 'deprecation',
    title: 'Deprecation',
    position: 85,
    folder: join(import.meta.dirname, 'pages'),
    notice() {
      const now = parts.clock();
      const refused = parts.entries.all.filter(({ dryRun }) => !dryRun);
      const next = nextBrownout(refused, now, parts.store.isRevoked);
      return next !== undefined && next.from <= now ? 'brown-out' : undefined;
    },
    actions: ACTIONS,
    data: (guard) => createDeprecationRouter(parts, [guard]),
  };
}
