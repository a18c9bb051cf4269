/** Options for finding and caching the authors of nodes. */
export interface OwnershipOptions {
  /**
   * The path template of the lookup, with `{nodeId}`, relative to the base address. Undefined if there is no lookup.
   */
  readonly lookup: string | undefined;
  /** The JSON pointer to the author's name in the response to the lookup. */
  readonly authorPointer: string;
  readonly maxEntries: number;
  readonly maxAgeSeconds: number;
}

/** The options under the `permissions` configuration key, including all defaults. */
export interface PermissionsOptions {
  readonly ownership: OwnershipOptions;
}

/** The defaults for the `permissions` configuration key. */
export const PERMISSIONS_DEFAULTS: PermissionsOptions = {
  ownership: { lookup: undefined, authorPointer: '/author/username', maxEntries: 50_000, maxAgeSeconds: 3600 },
};

/** The JSON Schema for the `permissions` configuration key. */
export const permissionsOptionsSchema = {
  description: 'The data that permission rules use.',
  type: 'object',
  additionalProperties: false,
  properties: {
    ownership: {
      description: "How the author of a node is found, for rules about a caller's own nodes.",
      type: 'object',
      additionalProperties: false,
      properties: {
        lookup: {
          description: "Path of a request that returns a node, with `{nodeId}`; sent with the caller's credential.",
          type: 'string',
          pattern: '^/[!-~]*\\{nodeId\\}[!-~]*$',
          examples: ['/path/of/node/{nodeId}'],
        },
        authorPointer: {
          description: "JSON pointer to the author's name in that response.",
          type: 'string',
          pattern: '^(/([^~/]|~[01])*)+$',
          default: PERMISSIONS_DEFAULTS.ownership.authorPointer,
        },
        maxEntries: {
          description: 'Maximum number of remembered authors.',
          type: 'integer',
          minimum: 1,
          maximum: 10_000_000,
          default: PERMISSIONS_DEFAULTS.ownership.maxEntries,
        },
        maxAgeSeconds: {
          description: 'How long an author is remembered.',
          type: 'integer',
          minimum: 0,
          maximum: 604_800,
          default: PERMISSIONS_DEFAULTS.ownership.maxAgeSeconds,
        },
      },
    },
  },
} as const;
