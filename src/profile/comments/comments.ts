import type { Feature } from '../../engine/feature.ts';
import { COMMENT_ERRORS } from './check-comment-visibility.ts';
import { commentVisibility } from './comment-visibility.ts';
import { options, SEND_PERMISSIONS, USE_PRIVATE_COMMENTS } from './options.ts';

/** Declares the private values of the visibility of comments, which the request rule for comments reads. */
export const comments = {
  name: 'comments',
  options,
  errors: Object.values(COMMENT_ERRORS),
  warn(_options, { operations, permissions }) {
    if (!operations.some(({ requestRules }) => requestRules.includes(commentVisibility.name)))
      return [
        {
          pointer: '/comments/visibilityOptions',
          because: 'the contract has no operation that writes comments (contract.inferred)',
        },
      ];
    const known = new Set(permissions.map(({ name }) => name));
    return [USE_PRIVATE_COMMENTS, ...Object.values(SEND_PERMISSIONS)]
      .filter((name) => !known.has(name))
      .map((name) => ({
        pointer: '/contract',
        message: `the rules for private fields of comments require "${name}", which is not a permission in the contract (x-permissions)`,
      }));
  },
} as const satisfies Feature<typeof options>;
