import { Type } from 'typebox';
import type { Feature } from '../engine/feature.ts';

const options = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        'Whether the legacy server has an issue tracker. If not, the attachment copy (operation 3) is disabled.',
    }),
  },
  {
    default: {},
    additionalProperties: false,
    description: 'The issue tracker to which attachments are copied.',
  },
);

/** The issue tracker, which some deployments of the legacy server lack. The operations that need it are then disabled. */
export const issueTracker = { name: 'issueTracker', options } as const satisfies Feature<typeof options>;
