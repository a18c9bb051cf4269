import { type Static, Type } from 'typebox';
import { optionsOf } from '../engine/config/configurable.ts';
import type { Settings } from '../engine/config/settings.ts';
import type { Feature } from '../engine/feature.ts';

const options = Type.Object(
  {
    db: Type.String({
      minLength: 1,
      default: '.portico/reference.db',
      description: 'Path of the database, relative to the working directory, or `:memory:`.',
    }),
    seed: Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      default: 1,
      description: 'Seed for data, incomplete items and chaos.',
    }),
    complete: Type.Boolean({
      default: false,
      description:
        'Whether all list items have the fields that the contract expects; otherwise, a few lack one (docs/reference-server.md#incomplete-items).',
    }),
    issueTrackerUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s?#]+$',
        description: 'Base URL of an issue tracker, `http` or `https`; a built-in tracker is used by default.',
      }),
    ),
    faults: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'Chaos rules, as for the flag `--fault`; see docs/reference-server.md#chaos.',
    }),
  },
  {
    default: {},
    additionalProperties: false,
    description: 'The reference server, which is used if upstream.url is not set.',
  },
);

/** The options under the `reference` configuration key. */
export type ReferenceOptions = Static<typeof options>;

/** Configures the reference server, which the commands start in place of the legacy server. */
export const reference = {
  name: 'reference',
  options,
  needsRestart: true,
  variables: () => ({ PORTICO_DB: 'db' }),
  warn: (_options, { settings }) =>
    settings.embedded
      ? []
      : [{ pointer: '/reference', because: 'upstream.url is set, so the reference server does not run' }],
} as const satisfies Feature<typeof options>;

/** Returns the options of the reference server. Undefined in a program that has none. */
export const referenceOf = (settings: Pick<Settings, 'features'>): ReferenceOptions | undefined =>
  settings.features.some(({ configurable }) => configurable === reference)
    ? optionsOf<typeof options>(settings, reference)
    : undefined;
