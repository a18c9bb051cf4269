/** The configuration key `gdpr:` with every default filled in. */
export interface GdprOptions {
  /** Seconds in which the same upload of the same caller is a duplicate; 0 switches the rule off. */
  readonly duplicateWindowSeconds: number;
  /** The most users that one upload may name. */
  readonly maxRows: number;
}

/** What holds where the configuration is silent. */
export const DEFAULT_GDPR_OPTIONS: GdprOptions = { duplicateWindowSeconds: 600, maxRows: 10_000 };

/** Fills the defaults in. */
export function toGdprOptions(config: Partial<GdprOptions> = {}): GdprOptions {
  return { ...DEFAULT_GDPR_OPTIONS, ...config };
}

/** The JSON Schema of the configuration key `gdpr:`. */
export const gdprOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    duplicateWindowSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds in which the same upload of the same caller is refused as a duplicate; 0 for never.',
    },
    maxRows: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'The most users that one upload may name.',
    },
  },
};
