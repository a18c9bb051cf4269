import { CHECK_NAMES, type CheckLevel, type CheckName, type ErrorStyle } from '../model/checks.ts';

/** The configuration key `reference:`: the embedded upstream, used while no `upstream.url` is set. */
export interface ReferenceOptions {
  /** A path, or `:memory:`. */
  readonly db: string;
  readonly seed: number;
  /** Names of misbehaviours to switch on. */
  readonly faults: readonly string[];
  /** Base address of an issue tracker; without one, a small one is embedded too. */
  readonly issueTrackerUrl?: string;
}

/** One entry of `undocumented.allow`: a path outside the contract that passes. */
export interface AllowedPath {
  readonly method: string;
  /** Under the base address; `{name}` stands for any one segment, `/**` at the end for everything below. */
  readonly path: string;
  /** What the caller must hold. */
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

/** JSON Schema of the style of error answers, global or of one operation. */
export const errorsSchema = {
  enum: ['legacy', 'normalized'] satisfies ErrorStyle[],
  description: "Error answers as the upstream's own, or in the one form of Portico.",
};

/** JSON Schema of the configuration key `reference:`. */
export const referenceSchema = {
  type: 'object',
  description: 'The embedded upstream, used while there is no upstream.url.',
  additionalProperties: false,
  properties: {
    db: { type: 'string', minLength: 1, description: 'Path of the database, or :memory:.' },
    seed: { type: 'integer', minimum: 0, maximum: 4_294_967_295 },
    issueTrackerUrl: {
      type: 'string',
      pattern: '^https?://[^\\s?#]+$',
      description: 'Base address of an issue tracker, http or https; without one, a small one is embedded too.',
    },
    faults: { type: 'array', items: { type: 'string', minLength: 1 }, description: 'Misbehaviours to switch on.' },
  },
};

/** JSON Schema of the configuration key `undocumented:`. */
export const undocumentedSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    allow: {
      type: 'array',
      description: 'Paths outside the contract that pass; unsafe methods always need an entry.',
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
          permission: { type: 'string', minLength: 1, description: 'What the caller must hold.' },
        },
      },
    },
  },
};
