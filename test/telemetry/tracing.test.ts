import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { finished, startPortico, untilSays } from '../cli/run-portico.ts';
import { startOtlpReceiver } from '../builders/otlp-receiver.ts';
import { tempFolder } from '../builders/temp-folder.ts';

/** Returns variables that make a process run a module hook before the program starts. */
function hooked(resolve: string): Record<string, string> {
  const file = join(tempFolder(), 'hook.mjs');
  writeFileSync(file, `import { registerHooks } from 'node:module';\nregisterHooks({ ${resolve} });\n`);
  return { NODE_OPTIONS: `--import ${pathToFileURL(file).href}` };
}

const PORTS = ['--port', '0', '--admin-port', '0'];

describe('packages that only some configurations need', () => {
  it('are not loaded by default', async () => {
    const env = hooked(`resolve(name, context, next) {
      if (/opentelemetry[/](?!api)|rate-limiter|@redis/.test(name)) process.stderr.write('LOADED ' + name + '\\n');
      return next(name, context);
    }`);
    const child = startPortico(['serve', ...PORTS], env);
    const text = finished(child);
    await untilSays(child, /Portico/);
    child.kill('SIGTERM');
    expect((await text).err).not.toContain('LOADED');
    const receiver = await startOtlpReceiver();
    const config = join(tempFolder(), 'portico.yaml');
    writeFileSync(
      config,
      JSON.stringify({
        roles: { file: join(import.meta.dirname, '..', '..', 'config', 'roles.yaml') },
        redis: { url: 'redis://127.0.0.1:1' },
        rateLimits: [{ name: 'all', requests: 1, windowSeconds: 1 }],
      }),
    );
    const full = { ...env, PORTICO_CONFIG: config, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const traced = startPortico(['serve', ...PORTS], full);
    const said = finished(traced);
    await untilSays(traced, /Portico/);
    traced.kill('SIGTERM');
    const { err } = await said;
    for (const name of ['@opentelemetry/sdk-trace', 'rate-limiter-flexible', '@redis/client'])
      expect(err).toContain(`LOADED ${name}`);
  });
});

describe('the packages of OpenTelemetry', () => {
  it('are named together with the command that installs them if they are missing', async () => {
    const env = hooked(`resolve(name, context, next) {
      return next(name === '@opentelemetry/sdk-trace' ? '@opentelemetry/sdk-trace-missing' : name, context);
    }`);
    const { code, err } = await finished(
      startPortico(['serve', ...PORTS], { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
    );
    expect(code).toBe(1);
    expect(err).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
    expect(err).toContain('requires the package @opentelemetry/sdk-trace-missing, which is not installed');
    expect(err).toMatch(/npm install (?:@opentelemetry\/[\w-]+@\d+\.\d+\.\d+ ?){4}/);
  });
});
