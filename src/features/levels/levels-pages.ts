import { join } from 'node:path';
import type { OperatorPage } from '../../engine/http/operator-page.ts';

const folder = join(import.meta.dirname, 'pages');

/** Returns the pages about levels. `overrides` returns the number of active overrides. */
export function levelsPages(overrides: () => number): readonly OperatorPage[] {
  return [
    { name: 'ladder', title: 'Ladder', position: 30, folder, showsOperation: true },
    {
      name: 'overrides',
      title: 'Overrides',
      position: 31,
      folder,
      notice: () => {
        const count = overrides();
        return count === 0 ? undefined : `${count} override${count === 1 ? '' : 's'}`;
      },
    },
  ];
}
