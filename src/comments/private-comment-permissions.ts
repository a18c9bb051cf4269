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
