import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changedKeys, settingsDigest } from '../../../src/engine/config/changed-keys.ts';
import type { Settings } from '../../../src/engine/config/settings.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import { optionsOf } from '../../../src/engine/config/configurable.ts';
import {
  exportsSpans,
  headersOf,
  parsePairs,
  samplingOf,
  type TracingOptions,
  tracingProblems,
} from '../../../src/features/tracing/options.ts';
import { configurationRows } from '../../../src/features/console/create-api.ts';
import { tracing } from '../../../src/features/tracing/tracing.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const read = (config: object, env: Record<string, string> = {}) => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, 'portico.yaml'), JSON.stringify(config), { mode: 0o600 });
  return readSettings({ cwd, env: { ...env, PORTICO_CONFIG: join(cwd, 'portico.yaml') } });
};
const optionsIn = (settings: Settings) => optionsOf(settings, tracing) as TracingOptions;
const TRACING_DEFAULTS = optionsIn(read({}).settings);
const faultsOf = (given: object, env = {}) =>
  read({ tracing: given }, env).faults.map(({ pointer, message }) => `${pointer} ${message}`);

describe('pairs in the format of the standard variables', () => {
  it.each([
    ['', {}],
    ['a=b', { a: 'b' }],
    [' a = b , c=d,', { a: 'b', c: 'd' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=b%2Cc%3Dd%20e', { a: 'b,c=d e' }],
    ['a=', { a: '' }],
  ])('are read: %j', (text, pairs) => {
    expect(parsePairs(text)).toEqual(pairs);
  });

  it.each(['a', '=b', 'a=b,c', 'a=%zz'])('are refused if they are malformed: %s', (text) => {
    expect(parsePairs(text)).toBeUndefined();
  });
});

describe('the headers for the receiver', () => {
  it('come from a file too', () => {
    const headersFile = join(tempFolder(), 'headers');
    writeFileSync(headersFile, 'api-key=abc\n# anything\n', { mode: 0o600 });
    expect(headersOf({ headersFile })).toEqual({ headers: { 'api-key': 'abc' } });
    expect(headersOf({})).toEqual({ headers: {} });
  });

  // A line break in a value would add a header chosen by the attacker to every export.
  it.each(['a=b%0d%0aX-Evil: 1', 'a%0a=b', 'a b=c', 'a=%00'])('are refused if they cannot be sent: %s', (headers) => {
    expect(headersOf({ headers })).toEqual({ fault: 'contains a header that cannot be sent' });
  });
});

describe('the sampler', () => {
  it.each([
    ['always_on', { ratio: 1, follow: 'nobody' }],
    ['always_off', { ratio: 0, follow: 'nobody' }],
    ['traceidratio', { ratio: 0.25, follow: 'nobody' }],
    ['parentbased_always_on', { ratio: 1, follow: 'trustedProxies' }],
    ['parentbased_always_off', { ratio: 0, follow: 'trustedProxies' }],
    ['parentbased_traceidratio', { ratio: 0.25, follow: 'trustedProxies' }],
  ] as const)('%s has its standard meaning', (sampler, sampling) => {
    expect(samplingOf({ ...TRACING_DEFAULTS, sampler, sampleRatio: 0.25 })).toEqual(sampling);
  });
});

describe('the configuration of tracing', () => {
  it('is valid by default', () => {
    expect(tracingProblems(TRACING_DEFAULTS)).toEqual([]);
  });

  it('names what is wrong, but never the values', () => {
    expect(faultsOf({ endpoint: 'collector:4318' })).toEqual([
      expect.stringContaining('/tracing/endpoint has the wrong format'),
    ]);
    // The console shows the endpoint, so it must not contain a password.
    expect(faultsOf({ endpoint: 'http://user:planted@collector:4318' }).join('')).not.toContain('planted');
    expect(faultsOf({ endpoint: 'http://user:planted@collector:4318' })).toHaveLength(1);
    expect(faultsOf({ headers: 'planted' })).toEqual([
      '/tracing/headers does not consist of name=value pairs that are separated by commas',
    ]);
    expect(faultsOf({ headers: 'a=b', headersFile: 'x' })).toEqual([
      '/tracing/headersFile is set in addition to headers; set only one',
    ]);
    expect(faultsOf({ headersFile: 'missing' })).toEqual([
      expect.stringMatching(/^\/tracing\/headersFile the file .*missing cannot be read/),
    ]);
    expect(faultsOf({ resourceAttributes: 'a' })).toHaveLength(1);
    expect(faultsOf({ sampleRatio: 1.5 })).toHaveLength(1);
  });

  it('names the variable if a variable is wrong', () => {
    const faults = (env: Record<string, string>) =>
      read({}, env).faults.map(({ source, message }) => [source, message]);
    expect(faults({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toEqual([
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'must be one of http/protobuf'],
    ]);
    expect(faults({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })[0]?.[0]).toBe('OTEL_TRACES_SAMPLER');
    expect(faults({ OTEL_TRACES_SAMPLER_ARG: 'many' })[0]?.[0]).toBe('OTEL_TRACES_SAMPLER_ARG');
  });

  it('is off, and ignores all variables, if a standard variable disables it', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const { settings, faults } = read({}, { ...env, OTEL_SDK_DISABLED: 'true' });
    expect(faults).toEqual([]);
    expect(exportsSpans(optionsIn(settings))).toBe(false);
    const configured = read({ tracing: { endpoint: 'http://collector:4318' } }, { OTEL_SDK_DISABLED: 'TRUE' });
    expect(exportsSpans(optionsIn(configured.settings))).toBe(false);
    expect(exportsSpans(optionsIn(read({ tracing: { endpoint: 'http://collector:4318' } }).settings))).toBe(true);
  });

  it('reads a fraction from the variable', () => {
    expect(optionsIn(read({}, { OTEL_TRACES_SAMPLER_ARG: '0.125' }).settings).sampleRatio).toBe(0.125);
  });

  // Another user on the machine reads the API key from a world-readable file.
  it('is refused with a real upstream if others can read the headers', () => {
    const headersFile = join(tempFolder(), 'headers');
    writeFileSync(headersFile, 'api-key=abc');
    chmodSync(headersFile, 0o644);
    const config = { upstream: { url: 'https://qa.example.org' }, tracing: { headersFile } };
    expect(read(config).faults.map(({ pointer }) => pointer)).toEqual(['/tracing/headersFile']);
  });

  it('takes effect only with a restart', () => {
    const [before, after] = [read({}), read({ tracing: { endpoint: 'http://collector:4318' } })];
    expect(changedKeys(before.settings, after.settings)).toEqual(['tracing.endpoint']);
  });

  it('shows the headers nowhere, because they contain an API key', () => {
    const { settings } = read({ tracing: { headers: 'api-key=planted' } });
    expect(optionsIn(settings).headers).toBe('api-key=planted');
    expect(JSON.stringify(configurationRows(settings))).not.toContain('planted');
    const other = read({ tracing: { headers: 'api-key=other' } });
    expect(settingsDigest(other.settings, [])).toBe(settingsDigest(settings, []));
  });

  it('lists the options that are not set, too', () => {
    const rows = configurationRows(read({}).settings).filter(({ key }) => key.startsWith('tracing.'));
    expect(rows).toHaveLength(Object.keys(tracing.options.properties).length);
    expect(rows).toContainEqual(expect.objectContaining({ key: 'tracing.endpoint', value: 'not set' }));
  });
});
