/** The value of the `gdpr` configuration key, including all defaults. */
export interface GdprOptions {
  /** How long, in seconds, a repeated upload by the same caller is treated as a duplicate. 0 disables the check. */
  readonly duplicateWindowSeconds: number;
  /** The maximum number of users in one upload. */
  readonly maxRows: number;
}

/** The defaults for the `gdpr` configuration key. */
export const DEFAULT_GDPR_OPTIONS: GdprOptions = { duplicateWindowSeconds: 600, maxRows: 10_000 };

/** Adds the defaults to the configured options. */
export function toGdprOptions(config: Partial<GdprOptions> = {}): GdprOptions {
  return { ...DEFAULT_GDPR_OPTIONS, ...config };
}

/** The JSON Schema for the `gdpr` configuration key. */
export const gdprOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    duplicateWindowSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 86_400,
      description:
        'Seconds within which a repeated upload by the same caller is refused as a duplicate; 0 disables the rule.',
    },
    maxRows: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'The largest number of users in one upload.',
    },
  },
};
