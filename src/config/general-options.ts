import { CHECK_NAMES, type CheckLevel, type CheckName, type ErrorStyle } from '../model/checks.ts';

/** The configuration key `reference:`: the embedded upstream, used while no `upstream.url` is set. */
export interface ReferenceOptions {
  /** A path, or `:memory:`. */
  readonly db: string;
  readonly seed: number;
  /** Chaos rules of the reference server. */
  readonly faults: readonly string[];
  /** The base URL of an issue tracker; an embedded tracker is used by default. */
  readonly issueTrackerUrl?: string;
}

/** One entry of `undocumented.allow`: an undocumented path that is forwarded. */
export interface AllowedPath {
  readonly method: string;
  /** Under the base address; `{name}` stands for any one segment, `/**` at the end for everything below. */
  readonly path: string;
  /** The permission that the caller must have. */
  readonly permission?: string;
}

const level = { enum: ['off', 'report', 'enforce'] satisfies CheckLevel[] };

/** JSON Schema of levels by check, global or of one operation. */
export const checksSchema = {
  type: 'object',
  description: 'Overrides of the mode: off, report or enforce.',
  additionalProperties: false,
  properties: Object.fromEntries(CHECK_NAMES.map((name) => [name, level])) as Record<CheckName, typeof level>,
};

/** JSON Schema of the style of error responses, global or of one operation. */
export const errorsSchema = {
  enum: ['legacy', 'normalized'] satisfies ErrorStyle[],
  description: 'Error responses in the format of the upstream (legacy) or of Portico (normalized).',
};

/** JSON Schema of the configuration key `reference:`. */
export const referenceSchema = {
  type: 'object',
  description: 'The embedded upstream, used if upstream.url is not set.',
  additionalProperties: false,
  properties: {
    db: { type: 'string', minLength: 1, description: 'Path of the database, or :memory:.' },
    seed: { type: 'integer', minimum: 0, maximum: 4_294_967_295 },
    issueTrackerUrl: {
      type: 'string',
      pattern: '^https?://[^\\s?#]+$',
      description: 'Base URL of an issue tracker, http or https; an embedded tracker is used by default.',
    },
    faults: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Chaos rules, as for the flag --fault.',
    },
  },
};

/** JSON Schema of the configuration key `undocumented:`. */
export const undocumentedSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    allow: {
      type: 'array',
      description: 'Undocumented paths to forward; unsafe methods always require an entry.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['method', 'path'],
        properties: {
          method: { enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', '*'] },
          path: {
            type: 'string',
            pattern: '^/services/v2/[^?#\\s]+$',
            description: 'Under /services/v2/; {name} stands for any one segment, /** at the end for all below.',
          },
          permission: { type: 'string', minLength: 1, description: 'The permission that the caller must have.' },
        },
      },
    },
  },
};
