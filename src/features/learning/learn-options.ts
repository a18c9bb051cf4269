/** The options under the `learn` configuration key, with all defaults filled in. */
export interface LearnOptions {
  /** True if live responses are sampled. `portico learn --against` does not need this option. */
  readonly traffic: boolean;
  /** The file that preserves observations across restarts: an absolute path, or `:memory:`. */
  readonly file: string;
}

/** The defaults for the `learn` configuration key. */
export const LEARN_DEFAULTS: LearnOptions = { traffic: false, file: '.portico/observations.json' };

/** The JSON Schema for the `learn` configuration key. */
export const learnOptionsSchema = {
  type: 'object',
  description: 'Sampling of the shapes of responses that the contract leaves open.',
  additionalProperties: false,
  properties: {
    traffic: {
      type: 'boolean',
      description:
        'Whether types and formats in live responses are sampled. Values are not, except for the words of some vocabularies; see docs/learning.md#privacy.',
    },
    file: {
      type: 'string',
      minLength: 1,
      description: 'File of samples, relative to the working directory, or `:memory:`.',
    },
  },
};
