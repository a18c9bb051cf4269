import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { finished, startPortico, untilSays } from '../cli/run-portico.ts';
import { tempFolder } from '../builders/temp-folder.ts';

/** Returns variables that make a process run a module hook before the program starts. */
function hooked(resolve: string): Record<string, string> {
  const file = join(tempFolder(), 'hook.mjs');
  writeFileSync(file, `import { registerHooks } from 'node:module';\nregisterHooks({ ${resolve} });\n`);
  return { NODE_OPTIONS: `--import ${pathToFileURL(file).href}` };
}

const PORTS = ['--port', '0', '--admin-port', '0'];

describe('packages that only some configurations need', () => {
  const env = hooked(`resolve(name, context, next) {
    if (/opentelemetry[/](?!api)|rate-limiter-flexible|@redis/.test(name)) process.stderr.write('LOADED ' + name + '\\n');
    return next(name === '@opentelemetry/sdk-trace' ? '@opentelemetry/sdk-trace-missing' : name, context);
  }`);

  it('are not loaded by default', async () => {
    const child = startPortico(['serve', ...PORTS], env);
    const text = finished(child);
    await untilSays(child, /Portico/);
    child.kill('SIGTERM');
    expect((await text).err).not.toContain('LOADED');
  });

  it('are loaded if they are configured, and are named together with the command that installs them if they are missing', async () => {
    const config = join(tempFolder(), 'portico.yaml');
    writeFileSync(
      config,
      JSON.stringify({
        roles: { file: join(import.meta.dirname, '..', '..', 'config', 'roles.yaml') },
        redis: { url: 'redis://127.0.0.1:1' },
        rateLimits: [{ name: 'all', requests: 1, windowSeconds: 1 }],
      }),
    );
    const full = { ...env, PORTICO_CONFIG: config, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    const { code, err } = await finished(startPortico(['serve', ...PORTS], full));
    expect(code).toBe(1);
    for (const name of ['@opentelemetry/sdk-trace', 'rate-limiter-flexible', '@redis/client'])
      expect(err).toContain(`LOADED ${name}`);
    expect(err).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
    expect(err).toContain('requires the package @opentelemetry/sdk-trace-missing, which is not installed');
    expect(err).toMatch(/npm install (?:@opentelemetry\/[\w-]+@\d+\.\d+\.\d+ ?){4}/);
  });
});
