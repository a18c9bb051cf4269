import { type Static, Type } from 'typebox';

/** The options under the `learn` configuration key. `file` is an absolute path, or `:memory:`. */
export const options = Type.Object(
  {
    traffic: Type.Boolean({
      default: false,
      description:
        'Whether types and formats in live responses are sampled. Values are not, except for the words of some vocabularies; see docs/learning.md#privacy.',
    }),
    file: Type.String({
      minLength: 1,
      default: '.portico/observations.json',
      description: 'File of samples, relative to the working directory, or `:memory:`.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'Sampling of the shapes of responses that the contract leaves open.',
  },
);

/** The options under the `learn` configuration key. */
export type LearnOptions = Static<typeof options>;
