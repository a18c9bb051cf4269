import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { variablesOf } from '../../src/engine/config/config-sources.ts';
import { PORTICO } from '../../src/portico-settings.ts';
import { packageRoot } from '../../src/lib/package-root.ts';

const read = (...path: string[]) => readFileSync(join(packageRoot, ...path), 'utf8');
const files = readdirSync(join(packageRoot, 'deploy'), { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile())
  .map(({ parentPath, name }) => ({ name, text: readFileSync(join(parentPath, name), 'utf8') }));
// A template is YAML only after it is rendered.
const documents = files.filter(({ name, text }) => name.endsWith('.yaml') && !text.includes('{{'));

describe('the deployment examples', () => {
  it.each(documents)('$name is valid YAML', ({ text }) => {
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
    const known = new Set([...Object.keys(variablesOf(PORTICO)), 'PORTICO_CONFIG']);
    const used = files.flatMap(({ text }) =>
      [...text.matchAll(/\b((?:PORTICO|UPSTREAM|REDIS|OTEL)_[A-Z_]+)\b/g)].map(([, name]) => name),
    );
    expect(new Set(used).size).toBeGreaterThan(8);
    expect(used.filter((name) => name !== undefined && !known.has(name))).toEqual([]);
  });
});
