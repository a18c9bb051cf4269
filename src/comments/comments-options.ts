/** The configuration key `comments:` with every default filled in. */
export interface CommentsOptions {
  /** Names of the private values of `visibility`, each with the recipients of such a comment. */
  readonly visibilityOptions: Readonly<Record<string, PrivateOption>>;
}

/** The only private name that was observed; it exists in every configuration. */
export const RECIPIENTS = 'recipients';

/**
 * The defaults. Three private options exist, but only one name was observed. The other two names are guesses, as is the
 * assumption that `recipients` means groups of the sender.
 */
export const DEFAULT_COMMENTS_OPTIONS: CommentsOptions = {
  visibilityOptions: { [RECIPIENTS]: 'toOwnGroups', originalPoster: 'toOriginalPoster', moderators: 'toModerators' },
};

/** Fills in the defaults; configured names replace the guessed ones, and `recipients` always remains an option. */
export function toCommentsOptions(config: Partial<CommentsOptions> = {}): CommentsOptions {
  if (config.visibilityOptions === undefined) return DEFAULT_COMMENTS_OPTIONS;
  return { visibilityOptions: { [RECIPIENTS]: 'toOwnGroups', ...config.visibilityOptions } };
}

/** The JSON Schema of the configuration key `comments:`. */
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

/** The permission that all private comments need. */
export const USE_PRIVATE_COMMENTS = 'Use Private Comments';

/** The recipients of each private option, and the additional permission that it needs. */
export const SEND_PERMISSIONS = {
  toOriginalPoster: 'Send private comments to the original poster',
  toModerators: 'Send private comments to moderators',
  toOwnGroups: 'Send private comments to own groups',
} as const;

/** A kind of private option. */
type PrivateOption = keyof typeof SEND_PERMISSIONS;
