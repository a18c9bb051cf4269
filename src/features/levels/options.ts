import { type Static, Type } from 'typebox';
import { PROMOTABLE_CHECKS } from './level-entry.ts';

/** The upper bound for the duration of an override, in hours. */
export const MAX_OVERRIDE_HOURS = 168;

const closed = { additionalProperties: false, default: {} } as const;

/** The options under the `levels` configuration key. */
export const options = Type.Object(
  {
    file: Type.String({
      minLength: 1,
      default: '.portico/levels.json',
      description:
        'File of all levels that differ from the configuration, relative to the working directory, or `:memory:`.',
    }),
    promote: Type.Object(
      {
        enabled: Type.Boolean({
          default: false,
          description: 'Whether checks that reported nothing during the whole window are promoted automatically.',
        }),
        checks: Type.Array(Type.Enum([...PROMOTABLE_CHECKS]), {
          default: ['requests', 'pageBounds'],
          description: 'The checks that may be promoted.',
        }),
        minAnswers: Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          default: 10_000,
          description: 'Minimum number of messages that the check must have judged within the window.',
        }),
        windowHours: Type.Number({ minimum: 1, maximum: 8760, default: 168, description: 'Length of the window.' }),
      },
      { ...closed, description: 'When a check is promoted from `report` to `enforce`.' },
    ),
    demote: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description: 'Whether responses is demoted to report when too many responses fail.',
        }),
        share: Type.Number({
          exclusiveMinimum: 0,
          maximum: 1,
          default: 0.1,
          description: 'Fraction (0 to 1) of checked responses that may fail before `responses` is demoted.',
        }),
        windowSeconds: Type.Number({
          minimum: 1,
          maximum: 86_400,
          default: 60,
          description: 'Length of the window in which checked responses are counted.',
        }),
        minAnswers: Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          default: 20,
          description:
            'Minimum number of responses in the window; if there are fewer, the last ones of the past day count (docs/levels.md#demotion-of-responses).',
        }),
      },
      { ...closed, description: 'When `responses` is demoted from `enforce` to `report`.' },
    ),
    overrides: Type.Object(
      {
        maxHours: Type.Number({
          exclusiveMinimum: 0,
          maximum: MAX_OVERRIDE_HOURS,
          default: MAX_OVERRIDE_HOURS,
          description: 'The longest duration of an override.',
        }),
      },
      { ...closed, description: 'Temporary changes by operators (docs/levels.md#overrides).' },
    ),
  },
  { ...closed, description: 'How the levels of checks change while the gateway runs (docs/levels.md).' },
);

/** The options under the `levels` configuration key, with all defaults filled in. `file` is an absolute path. */
export type LevelsOptions = Static<typeof options>;

/** The conditions under which a check is promoted to `enforce`. */
export type PromotionOptions = LevelsOptions['promote'];

/** The conditions under which an operation's `responses` check is lowered from `enforce` to `report`. */
export type DemotionOptions = LevelsOptions['demote'];
