/** The configuration key `learn:` with every default filled in. */
export interface LearnOptions {
  /** True where the shapes of live answers are observed; `portico learn --against` observes without it. */
  readonly traffic: boolean;
  /** Where observations are kept across restarts: an absolute path, or `:memory:`. */
  readonly file: string;
}

/** What holds where the configuration is silent. */
export const LEARN_DEFAULTS: LearnOptions = { traffic: false, file: '.portico/observations.json' };

/** The JSON Schema of the configuration key `learn:`. */
export const learnOptionsSchema = {
  type: 'object',
  description: 'Whether the shapes of what the contract leaves open are observed.',
  additionalProperties: false,
  properties: {
    traffic: { type: 'boolean', description: 'Observe shapes, never values, in live answers.' },
    file: {
      type: 'string',
      minLength: 1,
      description: 'Where observations are kept, relative to where Portico is started, or :memory:.',
    },
  },
};
