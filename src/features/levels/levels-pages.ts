import { join } from 'node:path';
import type { OperatorPage } from '../../engine/http/operator-page.ts';

/** Returns the page about levels. `overrides` returns the number of active overrides. */
export function levelsPages(overrides: () => number): readonly OperatorPage[] {
  return [
    {
      name: 'levels',
      title: 'Levels',
      position: 30,
      folder: join(import.meta.dirname, 'pages'),
      showsOperation: true,
      notice: () => {
        const count = overrides();
        return count === 0 ? undefined : `${count} override${count === 1 ? '' : 's'}`;
      },
    },
  ];
}
