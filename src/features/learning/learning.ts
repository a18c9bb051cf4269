import type { Feature } from '../../engine/feature.ts';
import { readObservationFile } from '../../learner/observations/observation-file.ts';
import type { Observations } from '../../learner/observations/observations.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { createFieldTurns } from './field-turns.ts';
import { options } from './options.ts';
import { createTrafficSampler } from './sample-traffic.ts';
import { createShapeLearning } from './shape-learning.ts';

/** Samples traffic for `portico learn` and for the comparison of releases (docs/learning.md). */
export const learning = {
  name: 'learn',
  options,
  needsRestart: true,
  files: { file: 'state' },
  forWalk: () => ({ traffic: false, file: IN_MEMORY }),
  warn: ({ traffic }, { settings }) =>
    traffic && settings.contract.scanner
      ? [
          {
            pointer: '/contract/scanner',
            because: 'responses are not scanned while traffic is sampled or compared with a shadow contract',
          },
        ]
      : [],
  auditRules: [
    {
      id: 'traffic-sampled',
      severity: 'info',
      key: '/learn/traffic',
      realOnly: true,
      risk: 'Every response is parsed for sampling, which slows down requests.',
      fix: 'Turn it off once portico learn has enough samples.',
      find: ({ traffic }) => (traffic ? ['true'] : []),
    },
  ],
  // The running gateway has newer observations than the file.
  prepare: ({ options: { traffic, file }, settings, earlier }) =>
    traffic ? { value: earlier ?? readObservationFile(file, settings.placeOf('/learn/file'), 0) } : undefined,
  dependsOn: ({ release, upstream }) => [release, upstream.maxJsonDepth, upstream.maxJsonValues],
  start({ options: { file }, contract, prepared, settings, recordFields, clock, logger, lasting }) {
    const { release, profile, upstream } = settings;
    const { shapes, turns } = lasting(
      () => ({
        shapes: prepared && createShapeLearning({ known: profile, file, observations: prepared, clock, logger }),
        turns: createFieldTurns(),
      }),
      async (state) => state.shapes?.close(),
    );
    return createTrafficSampler({
      document: contract.document,
      shapes,
      takeTurn: (operation, now) => turns.take(release, operation, now),
      recordFields,
      jsonLimits: { depth: upstream.maxJsonDepth, values: upstream.maxJsonValues },
      logger,
    });
  },
} as const satisfies Feature<typeof options, Observations | undefined>;
