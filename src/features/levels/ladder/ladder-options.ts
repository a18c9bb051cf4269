import type { CheckName } from '../../../engine/model/checks.ts';
import { PROMOTABLE_CHECKS } from './ladder-step.ts';

/**
 * The conditions under which a check is promoted to `enforce`. They ensure that enforcing it would not have refused any
 * recent requests.
 */
export interface PromotionOptions {
  readonly enabled: boolean;
  /** The checks that may be promoted. */
  readonly checks: readonly CheckName[];
  /** The minimum number of results that the check must have in the window. */
  readonly minAnswers: number;
  /** The length of the window, in hours. A check is promoted only if it has reported nothing within the window. */
  readonly windowHours: number;
}

/** The conditions under which an operation's `responses` check is lowered from `enforce` to `report`. */
export interface DemotionOptions {
  readonly enabled: boolean;
  /** The fraction, from 0 to 1, of checked responses that may fail. */
  readonly share: number;
  /** The length of the window over which the fraction is computed, in seconds. */
  readonly windowSeconds: number;
  /** The minimum number of checked responses in the window. */
  readonly minAnswers: number;
}

/** The options under the `ladder` configuration key, with all defaults filled in. */
export interface LadderOptions {
  /** The file that preserves promotions and demotions across restarts: an absolute path, or `:memory:`. */
  readonly file: string;
  readonly promote: PromotionOptions;
  readonly demote: DemotionOptions;
}

/** The defaults for the `ladder` configuration key. */
export const LADDER_DEFAULTS: LadderOptions = {
  file: '.portico/ladder.json',
  promote: { enabled: false, checks: ['requests', 'pageBounds'], minAnswers: 10_000, windowHours: 168 },
  demote: { enabled: true, share: 0.1, windowSeconds: 60, minAnswers: 20 },
};

/** The JSON Schema for the `ladder` configuration key. */
export const ladderOptionsSchema = {
  type: 'object',
  description: 'When checks are promoted from report to enforce, and when responses is demoted.',
  additionalProperties: false,
  properties: {
    file: {
      type: 'string',
      minLength: 1,
      description: 'The file that stores promotions and demotions, relative to the working directory, or :memory:.',
    },
    promote: {
      type: 'object',
      additionalProperties: false,
      properties: {
        enabled: {
          type: 'boolean',
          description: 'Whether checks that reported nothing during the whole window are promoted automatically.',
        },
        checks: { type: 'array', items: { enum: PROMOTABLE_CHECKS }, description: 'The checks that may be promoted.' },
        minAnswers: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'Minimum number of messages that the check must have judged within the window.',
        },
        windowHours: {
          type: 'number',
          minimum: 1,
          maximum: 8760,
          description: 'Length of the window.',
        },
      },
    },
    demote: {
      type: 'object',
      additionalProperties: false,
      properties: {
        enabled: {
          type: 'boolean',
          description: 'Whether responses is demoted to report when too many responses fail.',
        },
        share: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: 1,
          description: 'Fraction (0 to 1) of checked responses that may fail before `responses` is demoted.',
        },
        windowSeconds: {
          type: 'number',
          minimum: 1,
          maximum: 86_400,
          description: 'Length of the window in which checked responses are counted.',
        },
        minAnswers: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000_000,
          description:
            'Minimum number of responses in the window; if there are fewer, the last ones of the past day count (docs/ladder.md#demotion-of-responses).',
        },
      },
    },
  },
};
