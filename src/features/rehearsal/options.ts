import { Type } from 'typebox';

/** The options under the `rehearsal` configuration key. */
export const options = Type.Object(
  {
    share: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: 'Fraction (0 to 1) of the GET requests for documented operations to rehearse.',
    }),
    perSecond: Type.Number({
      minimum: 0.01,
      maximum: 1000,
      default: 1,
      description:
        'Maximum number of rehearsals per second. A rehearsal sends one request, or up to three if it finds a difference.',
    }),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 2,
      description: 'Maximum number of rehearsals at the same time.',
    }),
    ignoreHeaders: Type.Array(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" }), {
      maxItems: 64,
      default: [],
      description: 'Names of further response headers that are not compared.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    description:
      'Repeats a sample of the requests in `observe` mode as `staging` mode sends them, and reports differences; see docs/ledger.md#rehearsals.',
  },
);
