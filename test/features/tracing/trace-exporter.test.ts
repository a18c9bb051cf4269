import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportingPackages } from '../../cli/reporting-packages.ts';
import { finished, startPortico } from '../../cli/run-portico.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

describe('packages that only some configurations need', () => {
  it('are loaded if they are configured, and are named together with the command that installs them if they are missing', async () => {
    const config = join(tempFolder(), 'portico.yaml');
    writeFileSync(
      config,
      JSON.stringify({
        roles: { file: join(import.meta.dirname, '..', '..', '..', 'config', 'roles.yaml') },
        redis: { url: 'redis://127.0.0.1:1' },
        rateLimits: [{ name: 'all', requests: 1, windowSeconds: 1 }],
      }),
      { mode: 0o600 },
    );
    const env = reportingPackages('@opentelemetry/sdk-trace');
    const unused = 'http://127.0.0.1:1';
    const full = { ...env, PORTICO_CONFIG: config, UPSTREAM_URL: unused, OTEL_EXPORTER_OTLP_ENDPOINT: unused };
    const { code, err } = await finished(startPortico(['serve', '--port', '0', '--admin-port', '0'], full));
    expect(code).toBe(1);
    for (const name of ['@opentelemetry/sdk-trace', '@redis/client']) expect(err).toContain(`LOADED ${name}`);
    expect(err).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
    expect(err).toContain('requires the package @opentelemetry/sdk-trace-missing, which is not installed');
    expect(err).toMatch(/npm install (?:@opentelemetry\/[\w-]+@\d+\.\d+\.\d+ ?){4}/);
  });
});
