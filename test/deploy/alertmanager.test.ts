import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/lib/package-root.ts';
import { readText } from '../readme/tables.ts';

const read = (...path: string[]): unknown => parse(readFileSync(join(packageRoot, ...path), 'utf8'));

const text = { type: 'string', minLength: 1 };
const duration = { type: 'string', pattern: String.raw`^(?:\d+(?:ms|[smhdwy]))+$` };
// A matcher consists of a label, an operator and a quoted value.
const matchers = { type: 'array', minItems: 1, items: { pattern: String.raw`^\w+(?:=|!=|=~|!~)"[^"]+"$` } };
const labels = { type: 'array', minItems: 1, items: text };
const closed = (properties: object, required: string[]) => ({ additionalProperties: false, properties, required });

/**
 * The part of Alertmanager's documented configuration used by the example. Unknown keys are errors, as they are in
 * Alertmanager itself.
 */
const isConfiguration = new Ajv2020({ strict: false, allErrors: true }).compile({
  $defs: {
    route: closed(
      {
        receiver: text,
        group_by: labels,
        group_wait: duration,
        group_interval: duration,
        repeat_interval: duration,
        matchers,
        continue: { type: 'boolean' },
        routes: { type: 'array', items: { $ref: '#/$defs/route' } },
      },
      ['receiver'],
    ),
  },
  ...closed(
    {
      route: { $ref: '#/$defs/route', required: ['group_by'], not: { required: ['matchers'] } },
      inhibit_rules: {
        type: 'array',
        minItems: 1,
        items: closed({ source_matchers: matchers, target_matchers: matchers, equal: labels }, [
          'source_matchers',
          'target_matchers',
          'equal',
        ]),
      },
      receivers: {
        type: 'array',
        items: closed(
          {
            name: text,
            webhook_configs: {
              type: 'array',
              items: closed({ url: { type: 'string', pattern: '^https://' }, send_resolved: { type: 'boolean' } }, [
                'url',
              ]),
            },
          },
          ['name'],
        ),
      },
    },
    ['route', 'receivers'],
  ),
});

interface Example {
  route: {
    receiver: string;
    group_by: string[];
    repeat_interval: string;
    routes: { receiver: string; matchers: string[]; repeat_interval?: string }[];
  };
  inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[];
  receivers: { name: string }[];
}
interface Rules {
  groups: { rules: { alert: string; labels: { severity: string } }[] }[];
}

describe('the example for Alertmanager', () => {
  const document = read('deploy', 'alertmanager.yaml');
  const example = document as Example;
  const alerts = (read('config', 'prometheus', 'alerts.yml') as Rules).groups.flatMap(({ rules }) => rules);

  it('has the form that Alertmanager documents', () => {
    isConfiguration(document);
    expect(isConfiguration.errors ?? []).toEqual([]);
  });

  it('uses only receivers that it defines', () => {
    const used = [example.route.receiver, ...example.route.routes.map(({ receiver }) => receiver)];
    expect(new Set(used)).toEqual(new Set(example.receivers.map(({ name }) => name)));
  });

  it('routes and silences only existing alerts and severities', () => {
    const found = JSON.stringify(example).matchAll(/(alertname|severity)(?:=|!=|=~|!~)\\"([^"\\]+)\\"/g);
    const values = [...found].flatMap(([, , value = '']) => value.split('|'));
    const known = new Set([...alerts.map(({ alert }) => alert), ...alerts.map((rule) => rule.labels.severity)]);
    expect(values.length).toBeGreaterThan(10);
    expect(values.filter((value) => value !== 'Portico.+' && !known.has(value))).toEqual([]);
  });

  it('is described in docs/operations.md: its routes, its grouping, its inhibition rules and how to load it', () => {
    const [, rest = ''] = readText('docs/operations.md').split('\n### Alertmanager\n');
    const section = (rest.split(/\n##/)[0] ?? '').replaceAll(/\s+/g, ' ');
    const { route, inhibit_rules: inhibitions, receivers } = example;
    const hours = [route, ...route.routes].flatMap(({ repeat_interval: time }) => time?.match(/^(\d+)h$/)?.[1] ?? []);
    const causes = inhibitions.flatMap(({ source_matchers: sources }) => sources.join().match(/Portico\w+/g) ?? []);
    expect([hours.length, causes.length]).toEqual([2, 4]);
    for (const part of [
      'deploy/alertmanager.yaml',
      ...receivers.map(({ name }) => `\`${name}\``),
      ...hours.map((count) => `every ${count} hours`),
      `the same ${route.group_by.map((label) => `\`${label}\``).join(' and ')}`,
      ...causes.map((alert) => `\`${alert}\``),
      'amtool check-config deploy/alertmanager.yaml',
      'alertmanager --config.file=deploy/alertmanager.yaml',
      '/-/reload',
    ])
      expect(section).toContain(part);
  });

  it('is loaded by the Alertmanager to which the example for Prometheus sends its alerts', () => {
    expect(read('deploy', 'prometheus.yaml')).toMatchObject({
      alerting: { alertmanagers: [{ static_configs: [{ targets: ['127.0.0.1:9093'] }] }] },
    });
    expect(readText('docs/operations.md')).toContain('http://127.0.0.1:9093/-/reload');
  });
});
