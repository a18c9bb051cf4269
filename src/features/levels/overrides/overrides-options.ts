/** The options under the `overrides` configuration key, with all defaults filled in. */
export interface OverridesOptions {
  /** The file that preserves overrides across restarts: an absolute path, or `:memory:`. */
  readonly file: string;
  /** The maximum duration of an override, in hours. */
  readonly maxHours: number;
}

/** The upper bound for `maxHours`, in hours. */
export const MAX_OVERRIDE_HOURS = 168;

/** The defaults for the `overrides` configuration key. */
export const OVERRIDES_DEFAULTS: OverridesOptions = { file: '.portico/overrides.json', maxHours: MAX_OVERRIDE_HOURS };

/** The JSON Schema for the `overrides` configuration key. */
export const overridesOptionsSchema = {
  type: 'object',
  description:
    'Temporary changes that operators make to single operations while the gateway runs; see docs/operations.md#break-glass.',
  additionalProperties: false,
  properties: {
    file: {
      type: 'string',
      minLength: 1,
      description: 'File of active overrides, relative to the working directory, or `:memory:`.',
    },
    maxHours: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: MAX_OVERRIDE_HOURS,
      description: 'The longest duration of an override.',
    },
  },
};
