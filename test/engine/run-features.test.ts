import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import type { PreparedFeature, Settings } from '../../src/engine/config/settings.ts';
import type { Feature, Records, RunningFeature } from '../../src/engine/feature.ts';
import { samplingOf } from '../../src/engine/load-start.ts';
import { featureServices, joinFeatures } from '../../src/engine/run-features.ts';
import { closeServices, openServices, type Runs, startServices, useServices } from '../../src/engine/run-services.ts';
import { createMetricRegistry } from '../../src/engine/telemetry/metric-registry.ts';
import { finishedTrace } from './telemetry/fixed-trace.ts';

type Options = { readonly value: number };
type Needs = Parameters<ReturnType<typeof featureServices>[number]['start']>[0];

/** Returns the settings of a program whose only feature is the given one. */
const settingsWith = (feature: Feature, options: Options | undefined, release = 'one') =>
  ({ features: [{ configurable: feature, options }], release }) as unknown as Settings;

/** Returns a gateway that consists of a feature. */
function gatewayOf(feature: Feature, metrics = createMetricRegistry()) {
  const services = featureServices([feature]);
  const failed: string[] = [];
  const onError = (service: string) => void failed.push(service);
  return {
    failed,
    /** Starts the feature, or goes on with it after a reload. */
    run(settings: Settings, earlier?: Runs<Needs>, prepared: ReadonlyMap<string, PreparedFeature> = new Map()) {
      const start = { contract: { operations: [], version: 'v' }, prepared };
      const needs = { settings, start, metrics: { features: metrics }, current: () => undefined };
      return startServices(services, needs as unknown as Needs, onError, earlier);
    },
    join: (runs: Runs<Needs>) => joinFeatures(services, runs),
    close: (runs: Runs<Needs>, graceMs: number, next?: Runs<Needs>) => closeServices(runs, graceMs, onError, next),
  };
}

/** Returns a feature that writes down what the engine does with it. */
function createFeature(more: Partial<Feature> = {}, running: Partial<RunningFeature> = {}) {
  const events: string[] = [];
  const feature: Feature = {
    name: 'example',
    options: Type.Object({ value: Type.Number() }),
    start({ options, lasting }) {
      const { value } = options as Options;
      events.push(`start ${value}`);
      lasting(
        () => {
          events.push('create');
        },
        async (_state, graceMs) => void events.push(`close the state within ${graceMs} ms`),
      );
      return {
        open: async () => void events.push(`open ${value}`),
        close: () => void events.push(`close ${value}`),
        ...running,
      };
    },
    ...more,
  };
  return { events, feature };
}

describe('a feature', () => {
  it('is opened once for each run, and its lasting state is closed after its last run', async () => {
    const { events, feature } = createFeature();
    const { run, close } = gatewayOf(feature);
    const first = run(settingsWith(feature, { value: 1 }));
    await openServices(first);
    const same = run(settingsWith(feature, { value: 1 }), first);
    await openServices(same, first);
    const second = run(settingsWith(feature, { value: 2 }), same);
    await openServices(second, same);
    await close(same, Infinity, second);
    await close(second, 50);
    expect(events).toEqual([
      'start 1',
      'create',
      'open 1',
      'start 2',
      'open 2',
      'close 1',
      'close 2',
      'close the state within 50 ms',
    ]);
  });

  it('gets the violations and fields that others find, and is told when new requests use it', () => {
    const calls: unknown[] = [];
    const records = { open: async () => undefined } as unknown as Records;
    const { feature } = createFeature(
      {},
      {
        records,
        use: () => calls.push('use'),
        found: (trace) => calls.push(trace),
        sampled: (operation, presence) => calls.push([operation, presence]),
      },
    );
    const { run, join } = gatewayOf(feature);
    const runs = run(settingsWith(feature, { value: 1 }));
    const on = join(runs);
    const trace = finishedTrace();
    const presence = { objects: new Set(['']), fields: new Set(['/id']) };
    useServices(runs);
    on.found(trace);
    on.sampled('listIdeas', presence);
    expect(calls).toEqual(['use', trace, ['listIdeas', presence]]);
    expect(on.records).toBe(records);
    expect(join(run(settingsWith(feature, undefined))).records).toBeUndefined();
  });

  it('starts again if what it depends on has changed', () => {
    const { events, feature } = createFeature({ dependsOn: ({ release }) => release });
    const { run } = gatewayOf(feature);
    const first = run(settingsWith(feature, { value: 1 }, 'one'));
    run(settingsWith(feature, { value: 1 }, 'one'), first);
    expect(events).toEqual(['start 1', 'create']);
    run(settingsWith(feature, { value: 1 }, 'two'), first);
    expect(events).toEqual(['start 1', 'create', 'start 1']);
  });

  it('starts again if what it has read has changed, and gets it', () => {
    const seen: unknown[] = [];
    const { feature } = createFeature({
      start: ({ prepared }) => {
        seen.push(prepared);
        return undefined;
      },
    });
    const read = (value: string) => new Map([['example', { value, subject: 'a file', version: value }]]);
    const { run } = gatewayOf(feature);
    const settings = settingsWith(feature, { value: 1 });
    const first = run(settings, undefined, read('one'));
    const same = run(settings, first, read('one'));
    run(settings, same, read('two'));
    expect(seen).toEqual(['one', 'two']);
  });

  it('that is off has only its metrics without labels, which are 0', async () => {
    const metrics = createMetricRegistry();
    const entry = { type: 'counter', help: 'An example.' } as const;
    const { events, feature } = createFeature({
      metrics: [
        { ...entry, name: 'portico_plain_total', labels: [] },
        { ...entry, name: 'portico_labeled_total', labels: ['kind'] },
      ],
    });
    gatewayOf(feature, metrics).run(settingsWith(feature, undefined));
    expect(events).toEqual([]);
    const text = await metrics.exposition('text');
    expect(text).toContain('\nportico_plain_total 0\n');
    expect(text).not.toContain('portico_labeled_total');
  });

  it('that cannot be opened prevents the start with its own error', async () => {
    const { feature } = createFeature({}, { open: () => Promise.reject(new Error('not installed')) });
    const runs = gatewayOf(feature).run(settingsWith(feature, { value: 1 }));
    await expect(openServices(runs)).rejects.toThrow('not installed');
  });

  it('that cannot be closed does not keep the others and its state open', async () => {
    const fails = () => {
      throw new Error('stuck');
    };
    const { events, feature } = createFeature({}, { close: fails });
    const { run, close, failed } = gatewayOf(feature);
    await close(run(settingsWith(feature, { value: 1 })), 0);
    expect([events.at(-1), failed]).toEqual(['close the state within 0 ms', ['example']]);
  });

  it('observes finished requests under its own name', () => {
    const seen: string[] = [];
    const { feature } = createFeature({}, { finished: ({ requestId }) => seen.push(requestId) });
    const { run, join } = gatewayOf(feature);
    const { observers } = join(run(settingsWith(feature, { value: 1 })));
    const trace = finishedTrace({ requestId: 'a' });
    for (const { record } of observers) record(trace);
    expect(observers.map(({ name }) => name)).toEqual(['example']);
    expect(seen).toEqual(['a']);
  });

  it('can sample traces', () => {
    const sampling = { ratio: 0.5, follow: 'nobody' } as const;
    const { feature } = createFeature({
      sampling: (options) => ((options as Options).value > 1 ? sampling : undefined),
    });
    expect(samplingOf([feature], settingsWith(feature, { value: 1 }))).toBeUndefined();
    expect(samplingOf([feature], settingsWith(feature, { value: 2 }))).toEqual(sampling);
  });
});
