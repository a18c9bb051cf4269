import { join } from 'node:path';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import { ACTIONS, createLevelsRouter, type RouteParts } from './levels-routes.ts';

/** Returns the page that shows the levels and lets operators change them. */
export function levelsPage(parts: RouteParts): OperatorPage {
  return {
    name: 'levels',
    title: 'Levels',
    position: 30,
    folder: join(import.meta.dirname, 'pages'),
    showsOperation: true,
    notice() {
      const count = parts.levels.overrides.active().length;
      return count === 0 ? undefined : `${count} override${count === 1 ? '' : 's'}`;
    },
    actions: ACTIONS,
    words: ['ladder'],
    data: (guard) => createLevelsRouter(parts, [guard]),
  };
}
