import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { finished, startPortico, untilSays } from '../cli/run-portico.ts';

/** A module that appends the address of every module that the process loads to the file in `LOADED`. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED, url + '\\n');
      return next(url, context);
    },
  });
`)}`;

it('a gateway that serves loads no module of the workbench', async () => {
  const { url } = await startFakeUpstream(exampleResponse);
  const LOADED = join(tempFolder(), 'loaded');
  const env = { PORT: '0', ADMIN_PORT: '0', UPSTREAM_URL: url, LOADED, NODE_OPTIONS: `--import ${RECORDER}` };
  const child = startPortico(['serve'], env);
  cleanUpAfterTest(() => child.kill('SIGKILL'));
  child.stdout.resume();
  const ended = finished(child);
  const banner = await untilSays(child, /portico_checks_total/);
  const [, own = ''] = /public +(http:\/\/[\d.:]+)/.exec(banner) ?? [];
  const [, admin = ''] = /admin +(http:\/\/[\d.:]+)/.exec(banner) ?? [];
  expect((await fetch(`${own}/services/v2/article.json`)).status).toBe(200);
  for (const page of ['console/', 'metrics', 'console/api/status', 'violations', 'levels/ladder'])
    await (await fetch(`${admin}/${page}`)).text();
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  const loaded = readFileSync(LOADED, 'utf8').split('\n');
  expect(loaded.filter((one) => one.endsWith('/src/engine/gateway.ts'))).not.toEqual([]);
  expect(loaded.filter((one) => one.endsWith('/src/features/console/create-api.ts'))).not.toEqual([]);
  expect(loaded.filter((one) => one.includes('/src/workbench/'))).toEqual([]);
});
