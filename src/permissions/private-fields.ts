import type { Requirement } from '../model/requirement.ts';

/** What a caller must hold to be shown `visibility` and `recipients` of comments (rules, 3). */
export const PRIVATE_FIELDS_REQUIREMENT: Requirement = {
  all: [
    { permission: 'Use Private Comments' },
    {
      any: [
        { permission: 'Send private comments to the original poster' },
        { permission: 'Send private comments to moderators' },
        { permission: 'Send private comments to own groups' },
      ],
    },
  ],
};
