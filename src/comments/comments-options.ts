/** The configuration key `comments:` with every default filled in. */
export interface CommentsOptions {
  /** Names of the private values of `visibility`, each with whom it sends a comment to. */
  readonly visibilityOptions: Readonly<Record<string, PrivateOption>>;
}

/** The one private name that was observed; it exists whatever is configured. */
export const RECIPIENTS = 'recipients';

/**
 * What holds where the configuration is silent. Three private options exist and one name was observed; the other two
 * names are not shown and guessed here, and so is that `recipients` names groups of the sender.
 */
export const DEFAULT_COMMENTS_OPTIONS: CommentsOptions = {
  visibilityOptions: { [RECIPIENTS]: 'toOwnGroups', originalPoster: 'toOriginalPoster', moderators: 'toModerators' },
};

/** Fills the defaults in; configured names replace the guessed ones, `recipients` always stays an option. */
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
      description: 'Names of the private values of visibility, each with whom it sends a comment to.',
    },
  },
};

/** The permission that every use of private comments needs. */
export const USE_PRIVATE_COMMENTS = 'Use Private Comments';

/** Whom a private option sends a comment to, and the permission that it needs beside the first one. */
export const SEND_PERMISSIONS = {
  toOriginalPoster: 'Send private comments to the original poster',
  toModerators: 'Send private comments to moderators',
  toOwnGroups: 'Send private comments to own groups',
} as const;

/** A kind of private option. */
export type PrivateOption = keyof typeof SEND_PERMISSIONS;
