/** The value of the `comments` configuration key, including all defaults. */
export interface CommentsOptions {
  /** The private values of `visibility`, each with the kind of recipients that it represents. */
  readonly visibilityOptions: Readonly<Record<string, PrivateOption>>;
}

/** The only private value that has been observed in traffic. It is valid in every configuration. */
export const RECIPIENTS = 'recipients';

/**
 * The defaults. There are three private options, but only one option's name has been observed in traffic. The other two
 * names are guesses. `recipients` is assumed to mean groups that the sender belongs to.
 */
export const DEFAULT_COMMENTS_OPTIONS: CommentsOptions = {
  visibilityOptions: { [RECIPIENTS]: 'toOwnGroups', originalPoster: 'toOriginalPoster', moderators: 'toModerators' },
};

/** Adds the defaults. Configured names replace the default names, but `recipients` always remains an option. */
export function toCommentsOptions(config: Partial<CommentsOptions> = {}): CommentsOptions {
  if (config.visibilityOptions === undefined) return DEFAULT_COMMENTS_OPTIONS;
  return { visibilityOptions: { [RECIPIENTS]: 'toOwnGroups', ...config.visibilityOptions } };
}

/** The JSON Schema for the `comments` configuration key. */
export const commentsOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    visibilityOptions: {
      type: 'object',
      maxProperties: 20,
      propertyNames: { minLength: 1, maxLength: 100 },
      additionalProperties: { enum: ['toOriginalPoster', 'toModerators', 'toOwnGroups'] },
      description: 'Names of the private values of visibility, each with the recipients of such a comment.',
    },
  },
};

/** The permission that all private comments require. */
export const USE_PRIVATE_COMMENTS = 'Use Private Comments';

/** The additional permission for each kind of recipients. */
export const SEND_PERMISSIONS = {
  toOriginalPoster: 'Send private comments to the original poster',
  toModerators: 'Send private comments to moderators',
  toOwnGroups: 'Send private comments to own groups',
} as const;

type PrivateOption = keyof typeof SEND_PERMISSIONS;
