import type { NameRule } from '../model/caller-name.ts';

/** The options under the `roles` configuration key, including all defaults. */
export interface RolesOptions {
  /** The path of the roles file, relative to the configuration file. */
  readonly file: string;
  /** The policy for verified callers without an account. If set, it overrides the policy in the roles file. */
  readonly unmapped: string | undefined;
  /**
   * How callers' names are compared with the names of accounts and authors. Under both rules, a name that is spelled
   * differently from an account's, but might be the same to the server, is denied.
   */
  readonly names: NameRule;
}

/** The defaults for the `roles` configuration key. */
export const ROLES_DEFAULTS: RolesOptions = { file: 'roles.yaml', unmapped: undefined, names: 'exact' };

/** The JSON Schema for the `roles` configuration key. */
export const rolesOptionsSchema = {
  description: 'The roles file, and the policy for callers without an account.',
  type: 'object',
  additionalProperties: false,
  properties: {
    file: {
      description: 'The roles file (docs/roles.md), relative to the configuration file.',
      type: 'string',
      minLength: 1,
      default: ROLES_DEFAULTS.file,
    },
    unmapped: {
      description:
        'How verified callers without an account are treated: `delegate`, `deny` or a role; overrides the roles file.',
      type: 'string',
      minLength: 1,
    },
    names: {
      description:
        "How user names are compared with those of accounts and authors: `exact` or `ignoreCase`; see docs/roles.md. Use `ignoreCase` only if the server ignores case: otherwise, `Admin` could be another person's account with the roles of `admin`.",
      enum: ['exact', 'ignoreCase'],
      default: ROLES_DEFAULTS.names,
    },
  },
} as const;
