import { type Static, Type } from 'typebox';

/** The only private value that has been observed in traffic. It is valid in every configuration. */
export const RECIPIENTS = 'recipients';

/** The permission that all private comments require. */
export const USE_PRIVATE_COMMENTS = 'Use Private Comments';

/** The additional permission for each kind of recipients. */
export const SEND_PERMISSIONS = {
  toOriginalPoster: 'Send private comments to the original poster',
  toModerators: 'Send private comments to moderators',
  toOwnGroups: 'Send private comments to own groups',
} as const;

/** The options under the `comments` configuration key. */
export const options = Type.Object(
  {
    visibilityOptions: Type.Record(Type.String(), Type.Enum(['toOriginalPoster', 'toModerators', 'toOwnGroups']), {
      // There are three private options, but only one option's name has been observed in traffic. The other two names
      // are guesses. `recipients` is assumed to mean groups that the sender belongs to.
      default: { [RECIPIENTS]: 'toOwnGroups', originalPoster: 'toOriginalPoster', moderators: 'toModerators' },
      maxProperties: 20,
      propertyNames: { minLength: 1, maxLength: 100 },
      description: 'Names of the private values of visibility, each with the recipients of such a comment.',
    }),
  },
  { default: {}, additionalProperties: false },
);

/** The options under the `comments` configuration key. */
export type CommentsOptions = Static<typeof options>;

/**
 * Returns the private values of `visibility`. Configured names replace the default names, but `recipients` always
 * remains an option.
 */
export const privateValues = ({ visibilityOptions }: CommentsOptions): CommentsOptions['visibilityOptions'] => ({
  [RECIPIENTS]: 'toOwnGroups',
  ...visibilityOptions,
});
