import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../src/lib/package-root.ts';

/** Each page of the console is a module that exports the component `Page`. */
const MODULES = ['src/features/*/pages/*.js', 'src/features/console/public/pages/*.js'];

/** The pages that exist only with Redis or with a second server. */
const OTHERS: ReadonlySet<string> = new Set(['cutover', 'fleet', 'mirror']);

/** The names of the console's pages, as in its menu, except `OTHERS`. */
export const CONSOLE_PAGES: readonly string[] = globSync(MODULES, { cwd: packageRoot })
  .filter((file) => /^export (?:async )?(?:function|const) Page\b/m.test(readFileSync(join(packageRoot, file), 'utf8')))
  .map((file) => basename(file, '.js'))
  .filter((name) => !OTHERS.has(name))
  .toSorted();

if (CONSOLE_PAGES.length === 0) throw new Error('no page of the console was found');

/** The configuration with which a gateway has all of these pages, each with a row. Nothing is refused. */
export const EVERY_PAGE = {
  deprecation: {
    file: ':memory:',
    entries: [
      {
        operations: ['listArticles'],
        since: '2026-01-01',
        sunset: '2999-01-01',
        successor: 'https://qa.example.org/v3/articles',
        brownouts: [{ from: '2998-01-01T09:00Z', to: '2998-01-01T10:00Z' }],
      },
    ],
  },
};
