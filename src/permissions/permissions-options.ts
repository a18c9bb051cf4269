/** The configuration key `roles:` with every default filled in. */
export interface RolesOptions {
  /** The roles file, relative to the configuration file. */
  readonly file: string;
  /** Overrides what the roles file says of verified callers without an account. */
  readonly unmapped: string | undefined;
}

/** How the author of a node is found and remembered. */
export interface OwnershipOptions {
  /** Path template of the look-up under the base address, with `{nodeId}`; undefined where there is none. */
  readonly lookup: string | undefined;
  /** JSON pointer to the author's name in the answer of the look-up. */
  readonly authorPointer: string;
  readonly maxEntries: number;
  readonly maxAgeSeconds: number;
}

/** The configuration key `permissions:` with every default filled in. */
export interface PermissionsOptions {
  readonly ownership: OwnershipOptions;
}

/** What holds where `roles:` is silent. */
export const ROLES_DEFAULTS: RolesOptions = { file: 'roles.yaml', unmapped: undefined };

/** What holds where `permissions:` is silent. */
export const PERMISSIONS_DEFAULTS: PermissionsOptions = {
  ownership: { lookup: undefined, authorPointer: '/author/username', maxEntries: 50_000, maxAgeSeconds: 3600 },
};

/** The JSON Schema of the key `roles:`. */
export const rolesOptionsSchema = {
  description: 'Who may do what.',
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

/** The JSON Schema of the key `permissions:`. */
export const permissionsOptionsSchema = {
  description: 'How permission rules find what they need to know.',
  type: 'object',
  additionalProperties: false,
  properties: {
    ownership: {
      description: 'How the author of a node is found, for rules about own nodes.',
      type: 'object',
      additionalProperties: false,
      properties: {
        lookup: {
          description: 'Path that shows a node, with {nodeId}; asked with the credential of the caller.',
          type: 'string',
          pattern: '^/[!-~]*\\{nodeId\\}[!-~]*$',
          examples: ['/services/v2/node/{nodeId}.json'],
        },
        authorPointer: {
          description: "JSON pointer to the author's name in that answer.",
          type: 'string',
          pattern: '^(/([^~/]|~[01])*)+$',
          default: PERMISSIONS_DEFAULTS.ownership.authorPointer,
        },
        maxEntries: {
          description: 'How many authors are remembered.',
          type: 'integer',
          minimum: 1,
          maximum: 10_000_000,
          default: PERMISSIONS_DEFAULTS.ownership.maxEntries,
        },
        maxAgeSeconds: {
          description: 'How long an author is remembered, in seconds.',
          type: 'integer',
          minimum: 0,
          maximum: 604_800,
          default: PERMISSIONS_DEFAULTS.ownership.maxAgeSeconds,
        },
      },
    },
  },
} as const;
