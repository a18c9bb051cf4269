/** The permission names of the legacy role editor that guard an operation (specification, Authentication). */
export const PERMISSIONS = [
  'View the questions list',
  'View the question page',
  'View answers in the question page',
  'View users list',
  "View user's profile",
  'Mark as favorite',
  'Convert own posts to community wiki',
  'Mark as community wiki',
  'View list idea',
  'View list kbentry',
  'View analytics',
  'Edit users and groups',
  'Use Private Comments',
  'Send private comments to the original poster',
  'Send private comments to moderators',
  'Send private comments to own groups',
  'Add attachments to issues',
] as const;

/** One permission name. */
export type Permission = (typeof PERMISSIONS)[number];
