import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EVERY_PAGE } from '../builders/console-pages.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { TOKENS_ON } from '../builders/tokens-on.ts';
import { readText, ROOT } from '../readme/tables.ts';

/** Returns the paths of all TypeScript files in a folder of the repository, relative to the repository's root. */
const filesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));

it('the log shows every word in the paths of the admin side', async () => {
  const sources = ['src/engine/http/admin-app.ts', ...filesBelow('src/features')];
  const written = /\b(?:(?:open|router)(?:\.(?:get|post|put|patch|delete|use))?\(|path:)\s*'(\/[^']*)'/g;
  const paths = sources.flatMap((file) => [...readText(file).matchAll(written)].map(([, path = '']) => path));
  const some = ['/readyz', '/cache/purge', '/audit', '/end', '/try', '/:fingerprint/accept', '/console/sign-out'];
  expect(paths).toEqual(expect.arrayContaining(some));
  const gateway = await startTestGateway({
    upstream: await startFakeUpstream(() => ({ json: {} })),
    config: {
      ...EVERY_PAGE,
      tokens: TOKENS_ON,
      changes: { lists: [], folder: ':memory:' },
      mirror: { url: 'http://127.0.0.1:9', share: 0.1 },
      cutover: { url: 'http://127.0.0.1:9', operations: { '*': { share: 0 } } },
    },
  });
  for (const path of paths) await gateway.admin(`${path}?`, { method: 'OPTIONS' });
  const lines = gateway.log.map((line) => JSON.parse(line) as { msg: string; path: string });
  const shown = lines.flatMap(({ msg, path }) => (msg === 'admin request' ? [path] : []));
  expect(shown).toEqual(paths.map((path) => path.replaceAll(/:\w+/g, '{}')));
});
