import type { CheckName } from '../model/checks.ts';
import { PROMOTABLE_CHECKS } from './ladder-step.ts';

/** When a check of an operation that would refuse nothing is enforced by itself. */
export interface PromotionOptions {
  readonly enabled: boolean;
  /** Which checks may be promoted. */
  readonly checks: readonly CheckName[];
  /** Answers of the operation in the window that the check must have judged. */
  readonly minAnswers: number;
  /** Hours in which none may have been reported. */
  readonly windowHours: number;
}

/** When `responses` of an operation falls back from enforce to report. */
export interface DemotionOptions {
  readonly enabled: boolean;
  /** The share of judged answers, 0 to 1, above which enforcing is given up. */
  readonly share: number;
  /** Seconds in which the share is taken. */
  readonly windowSeconds: number;
  /** Answers in the window below which no share is believed. */
  readonly minAnswers: number;
}

/** The configuration key `ladder:` with every default filled in. */
export interface LadderOptions {
  /** Where promotions and demotions are kept across restarts: an absolute path, or `:memory:`. */
  readonly file: string;
  readonly promote: PromotionOptions;
  readonly demote: DemotionOptions;
}

/** What holds where the configuration is silent. */
export const LADDER_DEFAULTS: LadderOptions = {
  file: '.portico/ladder.json',
  promote: { enabled: false, checks: ['requests', 'pageBounds'], minAnswers: 10_000, windowHours: 168 },
  demote: { enabled: true, share: 0.1, windowSeconds: 60, minAnswers: 20 },
};

/** The JSON Schema of the configuration key `ladder:`. */
export const ladderOptionsSchema = {
  type: 'object',
  description: 'How checks climb from report to enforce, and when responses falls back.',
  additionalProperties: false,
  properties: {
    file: {
      type: 'string',
      minLength: 1,
      description: 'Where promotions and demotions are kept, relative to where Portico is started, or :memory:.',
    },
    promote: {
      type: 'object',
      additionalProperties: false,
      properties: {
        enabled: { type: 'boolean', description: 'Enforce by itself what would have refused nothing for long enough.' },
        checks: { type: 'array', items: { enum: PROMOTABLE_CHECKS }, description: 'Which checks may be promoted.' },
        minAnswers: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'Requests in the window that the check must have judged.',
        },
        windowHours: {
          type: 'number',
          minimum: 1,
          maximum: 8760,
          description: 'Hours in which the check must have reported nothing.',
        },
      },
    },
    demote: {
      type: 'object',
      additionalProperties: false,
      properties: {
        enabled: {
          type: 'boolean',
          description: 'Let responses fall back to report instead of failing too many answers.',
        },
        share: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: 1,
          description: 'The share of judged answers that may fail before enforcing is given up, 0 to 1.',
        },
        windowSeconds: {
          type: 'number',
          minimum: 1,
          maximum: 86_400,
          description: 'Seconds in which the share is taken.',
        },
        minAnswers: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000_000,
          description: 'Answers in the window below which no share is believed.',
        },
      },
    },
  },
};
