import { type Static, Type } from 'typebox';

/** The options under the `gdpr` configuration key. */
export const options = Type.Object(
  {
    duplicateWindowSeconds: Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 600,
      description: 'How long an upload that the same caller repeats is refused as a duplicate; 0 disables the rule.',
    }),
    maxRows: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
      description: 'The largest number of users in one upload.',
    }),
  },
  { default: {}, additionalProperties: false },
);

/** The options under the `gdpr` configuration key. */
export type GdprOptions = Static<typeof options>;
