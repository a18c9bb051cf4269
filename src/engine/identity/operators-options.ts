import { type Static, Type } from 'typebox';

const operator = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: String.raw`^[^:\u0000-\u001f\u007f]+$`,
      description: 'The name that the operator enters, and that the audit trail shows. It must not contain a colon.',
    }),
    passwordHash: Type.String({ minLength: 1, description: 'An argon2id hash, from portico hash-password.' }),
  },
  { additionalProperties: false },
);

/** The options under the `operators` configuration key. */
export const operatorsOptions = Type.Array(operator, {
  default: [],
  maxItems: 100,
  description: 'The people and programs that sign in to the admin side with a name and a password of their own.',
});

/** Somebody who may use the admin side. */
export type Operator = Static<typeof operator>;
