import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { VARIABLES } from '../../src/config/environment.ts';
import { LISTEN_DEFAULTS } from '../../src/config/general-options.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { faultsOf } from '../config/load-in-folder.ts';

const read = (...path: string[]) => readFileSync(join(packageRoot, ...path), 'utf8');
const files = readdirSync(join(packageRoot, 'deploy')).map((name) => ({ name, text: read('deploy', name) }));

describe('the deployment examples', () => {
  it.each(files.filter(({ name }) => name.endsWith('.yaml')))('$name is valid YAML', ({ text }) => {
    expect(parseAllDocuments(text).flatMap((document) => document.errors)).toEqual([]);
  });

  it('point Prometheus at the existing rules, under the job name that these use', () => {
    const document: unknown = parse(read('deploy', 'prometheus.yaml'));
    const { scrape_configs: jobs, rule_files: rules } = document as {
      scrape_configs: { job_name: string }[];
      rule_files: string[];
    };
    expect(jobs.map(({ job_name: name }) => name)).toEqual(['portico']);
    const names = rules.map((path) => basename(path));
    expect(names).toEqual(['recording.yml', 'alerts.yml']);
    for (const name of names) expect(read('config', 'prometheus', name)).toContain('groups:');
    expect(read('config', 'prometheus', 'alerts.yml')).toContain('up{job="portico"}');
  });

  it('set only variables that the program reads', () => {
    const known = new Set([...Object.keys(VARIABLES), 'PORTICO_CONFIG']);
    const used = files.flatMap(({ text }) =>
      [...text.matchAll(/\b((?:PORTICO|UPSTREAM)_[A-Z_]+)\b/g)].map(([, name]) => name),
    );
    expect(used.length).toBeGreaterThan(3);
    expect(used.filter((name) => name !== undefined && !known.has(name))).toEqual([]);
  });

  it('contain a configuration without errors', () => {
    const [config] = parseAllDocuments(read('deploy', 'kubernetes.yaml'));
    const data: unknown = config?.getIn(['data', 'portico.yaml']);
    expect(data).toContain('upstream:');
    expect(faultsOf(String(data))).toEqual([]);
  });

  it('start it in a folder where it may write: the ledger, the ladder and the observations are stored there', () => {
    const started = {
      Dockerfile: /^WORKDIR (.+)\nVOLUME \1$/m.exec(read('deploy', 'Dockerfile'))?.[1],
      'kubernetes.yaml': /workingDir: (.+)$/m.exec(read('deploy', 'kubernetes.yaml'))?.[1],
      'portico.service': /^WorkingDirectory=(%S\/portico)$/m.exec(read('deploy', 'portico.service'))?.[1],
    };
    for (const [name, folder] of Object.entries(started)) {
      expect(folder, name).toBeDefined();
      expect(read('deploy', name)).toMatch(/PORTICO_LEDGER/);
      expect(read('deploy', name)).toContain(`${folder}/.portico/ledger.db`);
    }
    expect(read('deploy', 'kubernetes.yaml')).toContain(`mountPath: ${started['kubernetes.yaml']} }`);
    expect(read('deploy', 'portico.service')).toContain('StateDirectory=portico');
  });

  it('allow more time than draining needs', () => {
    const seconds = files.flatMap(({ text }) =>
      [...text.matchAll(/(?:terminationGracePeriodSeconds: |TimeoutStopSec=)(\d+)/g)].map(([, number]) =>
        Number(number),
      ),
    );
    expect(seconds).toHaveLength(2);
    expect(Math.min(...seconds)).toBeGreaterThan(LISTEN_DEFAULTS.lameDuckSeconds + LISTEN_DEFAULTS.drainSeconds);
  });

  it('copy every folder that the program needs into the image', () => {
    const { files: released } = JSON.parse(read('package.json')) as { files: string[] };
    // The documentation and examples in the package are only for people to read.
    const forReaders = new Set(['docs', 'examples', 'LICENSE']);
    for (const name of released.filter((one) => !one.includes('.') && !forReaders.has(one)))
      expect(read('deploy', 'Dockerfile')).toContain(`/build/${name} ./${name}`);
  });
});
