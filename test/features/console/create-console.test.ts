import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { staticFiles } from '../../../src/features/console/static-files.ts';
import { withReferenceServer } from '../../reference/with-reference-server.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';

const PUBLIC = join(import.meta.dirname, '..', '..', '..', 'src', 'features', 'console', 'public');
describe('the console', () => {
  const { server } = withReferenceServer();
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ upstream: server() });
  });
  /** The folders of the other features' pages. A feature that is off has none. */
  const folders = () => [...new Set(gateway.gateway.services.features.pages.map(({ folder }) => folder))];
  const served = () => staticFiles(folders().map((folder) => ({ folder })));

  it('is where the admin listener redirects a browser', async () => {
    const root = await gateway.admin('/');
    expect([root.status, root.headers.location]).toEqual([303, 'console/']);
    const bare = await gateway.admin('/console?x=1');
    expect([bare.status, bare.headers.location]).toEqual([303, 'console/']);
  });

  it('allows no inline code, no foreign origins and no caching', async () => {
    for (const target of [
      '/console/',
      '/console/main.js',
      '/console/api/status',
      '/console/api/nothing',
      '/console/x',
    ]) {
      const { headers } = await gateway.admin(target);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
  });

  it('serves every file of its folder with its media type', async () => {
    const filesIn = (folder: string, base: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => base + join(entry.parentPath, entry.name).slice(folder.length));
    const names = [...filesIn(PUBLIC, ''), ...folders().flatMap((folder) => filesIn(folder, '/pages'))]
      // An index page is served at its folder's path.
      .map((name) => (name === '/index.html' ? '/' : name.replace(/\/index\.html$/, '')));
    expect(names).toEqual(expect.arrayContaining(['/', '/main.js', '/pages/traffic.js', '/pages/audit.js']));
    const paths = [...served().keys()].filter((name) => !name.startsWith('/vendor/'));
    expect(paths.toSorted()).toEqual(names.toSorted());
    const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' } as const;
    for (const name of served().keys()) {
      const { status, headers, bytes } = await gateway.admin(`/console${name}`);
      const type = types[name.split('.').at(-1) as keyof typeof types] ?? 'text/html';
      expect([status, String(headers['content-type']).split(';')[0]]).toEqual([200, type]);
      expect(bytes.length).toBeGreaterThan(100);
    }
  });

  it('serves modules without package names, which browsers cannot resolve', async () => {
    for (const name of [...served().keys()].filter((one) => one.endsWith('.js'))) {
      const { text } = await gateway.admin(`/console${name}`);
      const specifiers = [...text.matchAll(/(?:^|[;}\s])(?:import|export)\b[^'";()]*?\bfrom\s*["']([^"']+)["']/g)];
      expect(specifiers.map((match) => match[1]).filter((one) => one?.startsWith('.') !== true)).toEqual([]);
      expect(text).not.toContain('sourceMappingURL');
    }
  });

  // Only files that were listed at startup are served. No other file is looked up on disk.
  it.each([
    '/console/index.html',
    '/console/../../package.json',
    '/console/%2e%2e/%2e%2e/package.json',
    '/console/..%2f..%2fpackage.json',
    '/console/vendor/../../create-console.ts',
    '/console/lib//api.js',
    '/console/LIB/api.js',
    '/console/main.js/',
    '/console/vendor/package.json',
    '/console/constructor',
    '/console/__proto__',
    '/console/main.js%00.html',
  ])('serves nothing else: %s', async (target) => {
    const { status, text } = await gateway.admin(target);
    expect(status).toBe(404);
    expect(text).not.toContain('"dependencies"');
  });

  it('serves its pages only for GET and HEAD', async () => {
    expect((await gateway.admin('/console/', { method: 'HEAD' })).status).toBe(200);
    expect((await gateway.admin('/console/', { method: 'POST' })).status).toBe(404);
  });
});
