/** The options under the `roles` configuration key, including all defaults. */
export interface RolesOptions {
  /** The path of the roles file, relative to the configuration file. */
  readonly file: string;
  /** The policy for verified callers without an account. If set, it overrides the policy in the roles file. */
  readonly unmapped: string | undefined;
}

/** The defaults for the `roles` configuration key. */
export const ROLES_DEFAULTS: RolesOptions = { file: 'roles.yaml', unmapped: undefined };

/** The JSON Schema for the `roles` configuration key. */
export const rolesOptionsSchema = {
  description: 'The roles file, and the policy for callers without an account.',
  type: 'object',
  additionalProperties: false,
  properties: {
    file: {
      description: 'The roles file, relative to this one.',
      type: 'string',
      minLength: 1,
      default: ROLES_DEFAULTS.file,
    },
    unmapped: {
      description: 'delegate, deny or a role, for verified callers without an account; overrides the roles file.',
      type: 'string',
      minLength: 1,
    },
  },
} as const;
