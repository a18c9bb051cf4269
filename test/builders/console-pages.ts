import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/lib/package-root.ts';

/** The names of the console's pages, as in its navigation, except the page of the fleet, which needs Redis. */
export const CONSOLE_PAGES: readonly string[] = [
  ...readFileSync(join(packageRoot, 'src', 'features', 'console', 'public', 'main.js'), 'utf8').matchAll(
    /^ {2}\['(\w+)', '\w+', \w+\],$/gm,
  ),
].flatMap(([, name = '']) => (name === 'fleet' ? [] : [name]));
