import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { VARIABLES } from '../../src/config/environment.ts';
import { LISTEN_DEFAULTS } from '../../src/config/listen-options.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import { ERRORS } from '../../src/errors/catalogue.ts';
import { METRICS } from '../../src/telemetry/metric-list.ts';
import { faultsOf } from '../config/load-in-folder.ts';

const read = (...path: string[]) => readFileSync(join(packageRoot, ...path), 'utf8');
const files = readdirSync(join(packageRoot, 'deploy')).map((name) => ({ name, text: read('deploy', name) }));

describe('the examples for running it', () => {
  it.each(files.filter(({ name }) => name.endsWith('.yaml')))('$name is YAML', ({ text }) => {
    expect(parseAllDocuments(text).flatMap((document) => document.errors)).toEqual([]);
  });

  it('use metrics, labels and error codes that exist', () => {
    const known = new Map<string, readonly string[]>(Object.values(METRICS).map(({ name, labels }) => [name, labels]));
    const { text } = files.find(({ name }) => name === 'prometheus.yaml') ?? { text: '' };
    const used = [...text.matchAll(/(portico_\w+?)(?:_bucket)?\b(?:\{(\w+)=)?/g)];
    expect(used.length).toBeGreaterThan(4);
    for (const [, name = '', label] of used) {
      expect(known.has(name), name).toBe(true);
      if (label !== undefined) expect(known.get(name)).toContain(label);
    }
    for (const [, code = ''] of text.matchAll(/code="(\w+)"/g)) expect(ERRORS).toHaveProperty(code);
  });

  it('set variables that are read', () => {
    const known = new Set([...Object.keys(VARIABLES), 'PORTICO_CONFIG']);
    const used = files.flatMap(({ text }) =>
      [...text.matchAll(/\b((?:PORTICO|UPSTREAM)_[A-Z_]+)\b/g)].map(([, name]) => name),
    );
    expect(used.length).toBeGreaterThan(3);
    expect(used.filter((name) => name !== undefined && !known.has(name))).toEqual([]);
  });

  it('hold a configuration without faults', () => {
    const [config] = parseAllDocuments(read('deploy', 'kubernetes.yaml'));
    const data: unknown = config?.getIn(['data', 'portico.yaml']);
    expect(data).toContain('upstream:');
    expect(faultsOf(String(data))).toEqual([]);
  });

  it('give the drain more time than it takes', () => {
    const seconds = files.flatMap(({ text }) =>
      [...text.matchAll(/(?:terminationGracePeriodSeconds: |TimeoutStopSec=)(\d+)/g)].map(([, number]) =>
        Number(number),
      ),
    );
    expect(seconds).toHaveLength(2);
    expect(Math.min(...seconds)).toBeGreaterThan(LISTEN_DEFAULTS.drainSeconds);
  });

  it('copy every folder of the release into the image', () => {
    const { files: released } = JSON.parse(read('package.json')) as { files: string[] };
    for (const name of released.filter((one) => !one.includes('.') && one !== 'LICENSE'))
      expect(read('deploy', 'Dockerfile')).toContain(`/build/${name} ./${name}`);
  });
});
