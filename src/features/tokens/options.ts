import { type Static, Type } from 'typebox';

const keyFile = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

/** The options under the `tokens` configuration key. The files are absolute paths; `file` may be `:memory:`. */
export const options = Type.Object(
  {
    keyFile: keyFile(
      'File whose first line is the key with which tokens are stored, of at least 32 characters. Without it, there are no tokens. In a fleet, the same for all gateways.',
    ),
    previousKeyFile: keyFile('File with the previous key, under which tokens are still accepted.'),
    file: Type.String({
      minLength: 1,
      default: '.portico/tokens.json',
      description: 'File of the tokens, relative to the working directory, or `:memory:`.',
    }),
    maxDays: Type.Integer({
      minimum: 1,
      maximum: 3650,
      default: 365,
      description: 'How long a new token can be valid, in days.',
    }),
    maxUnsyncedSeconds: Type.Integer({
      minimum: 60,
      maximum: 86_400,
      default: 120,
      description:
        'Within how many seconds a revocation must hold on all gateways of a fleet. A gateway that has not reached Redis for longer refuses tokens with a 503.',
    }),
    sealingKeyFile: keyFile(
      'File whose first line is the key with which enrolled passwords are encrypted, of at least 32 characters. Without it, passwords cannot be enrolled.',
    ),
    previousSealingKeyFile: keyFile('File with the previous key, which still opens passwords.'),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'Tokens that clients send instead of a password (docs/tokens.md).',
  },
);

/** The options under the `tokens` configuration key. */
export type TokensOptions = Static<typeof options>;

/** The options that name files with keys. */
export const KEY_OPTIONS = ['keyFile', 'previousKeyFile', 'sealingKeyFile', 'previousSealingKeyFile'] as const;
