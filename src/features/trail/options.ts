import { type Static, Type } from 'typebox';

/** The options under the `auditTrail` configuration key. `file` is an absolute path, or `:memory:`. */
export const options = Type.Object(
  {
    file: Type.String({
      minLength: 1,
      default: '.portico/overrides-audit.jsonl',
      description: 'File of the audit trail, relative to the working directory, or `:memory:`.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'The record of what operators do; see docs/operations.md#audit-trail.',
  },
);

/** The options under the `auditTrail` configuration key. */
export type AuditTrailOptions = Static<typeof options>;
