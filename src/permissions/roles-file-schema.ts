const names = (description: string) => ({
  description,
  type: 'array',
  uniqueItems: true,
  items: { type: 'string', minLength: 1, maxLength: 200 },
});

/** The JSON Schema of the roles file; `config/roles.schema.json` is the same for editors. */
export const rolesFileSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Roles of Portico',
  description: 'Who may do what: roles, and the accounts that hold them.',
  type: 'object',
  additionalProperties: false,
  required: ['roles'],
  properties: {
    unmapped: {
      description:
        'What a verified caller without an account here may do: delegate leaves it to the upstream, deny refuses everything, the name of a role grants that role. The default is delegate with the verifier upstream and deny with the verifier file.',
      type: 'string',
      minLength: 1,
    },
    groups: names('Every group that an account may be a member of.'),
    flags: names('Every flag that an account may carry; superuser grants all permissions and no group.'),
    roles: {
      description: 'Roles by name; callers without a credential hold the role anonymous.',
      type: 'object',
      propertyNames: { minLength: 1, maxLength: 100, not: { enum: ['delegate', 'deny'] } },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          description: { description: 'For readers of this file.', type: 'string' },
          inherits: names('Roles whose permissions this one holds too.'),
          permissions: names('Permissions by the names of the role editor.'),
        },
      },
    },
    accounts: {
      description: 'What verified names hold.',
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'roles'],
        properties: {
          name: { description: 'The name of the credential, exactly.', type: 'string', minLength: 1, maxLength: 256 },
          roles: names('Roles of the account.'),
          groups: names('Groups that the account is a member of.'),
          flags: names('Flags that the account carries.'),
          demo: {
            description: 'Marks a public account, which is left out with a real upstream.',
            type: 'boolean',
            default: false,
          },
          passwordHash: {
            description: 'An argon2id hash from: portico hash-password. Needed by the verifier file only.',
            type: 'string',
            pattern: '^\\$argon2id\\$v=19\\$m=[0-9]+,t=[0-9]+,p=[0-9]+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+$',
          },
        },
      },
    },
  },
} as const;
