import type { Contract } from '../../engine/contract/load-contract.ts';
import type { Feature } from '../../engine/feature.ts';
import { createLaterTurns } from '../../lib/later-turns.ts';
import { loadShadow, shadowWarnings } from './load-shadow.ts';
import { options } from './options.ts';
import { createShadowWatch } from './shadow-watch.ts';

const DROPPED = {
  name: 'portico_candidate_dropped_total',
  type: 'counter',
  labels: [],
  help: 'Requests that were not compared with the shadow contract because too many were waiting.',
} as const;

/** Checks traffic against a second contract and reports where the verdicts would differ (docs/contract.md). */
export const shadowContract = {
  name: 'contract.candidate',
  options,
  metrics: [DROPPED],
  files: { folder: 'document', overlays: 'document' },
  contractWords({ overlays }) {
    const count = overlays.length === 1 ? '1 overlay' : `${overlays.length} overlays`;
    return [overlays.length === 0 ? 'shadow contract' : `shadow contract with ${count}`];
  },
  warn: (_options, { settings }) =>
    settings.contract.scanner
      ? [
          {
            pointer: '/contract/scanner',
            because: 'responses are not scanned while traffic is sampled or compared with a shadow contract',
          },
        ]
      : [],
  prepare(context) {
    const shadow = loadShadow(context);
    const place = context.settings.placeOf('/contract/candidate');
    return {
      value: shadow,
      subject: 'the shadow contract',
      version: shadow.version,
      warnings: (live) => shadowWarnings(live, shadow, place),
    };
  },
  dependsOn: ({ checks, operations, contract }) => [checks, operations, contract],
  start({ contract, prepared, settings, metrics, record, lasting }) {
    const dropped = lasting(() => ({ count: 0 }));
    metrics.read(DROPPED, () => [[[], dropped.count]]);
    const watch = createShadowWatch({
      live: contract,
      shadow: prepared,
      checksFor: settings.checksFor,
      maxCollected: settings.contract.maxCollected,
      later: createLaterTurns().add,
      found: record,
      dropped: () => (dropped.count += 1),
    });
    return {
      messages: {
        request: watch.requestReceived,
        requestBody: watch.body,
        parsedResponse({ trace, arrival }, _operation, response, json) {
          // An unchecked response is not compared, either.
          if (trace.responses?.reason !== 'off') watch.responseReceived(trace, arrival, response, json);
        },
      },
      finished: watch.requestFinished,
    };
  },
} as const satisfies Feature<typeof options, Contract>;
