const count = { type: 'integer', minimum: 0 };
const moment = { type: 'number', minimum: 0 };
const span = { firstSeenAt: moment, lastSeenAt: moment };
const shape = { $ref: '#/$defs/shape' };

const closed = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
const recordOf = (additionalProperties: object) => ({ type: 'object', additionalProperties });

/** The JSON Schema of the file of observations; zeros and empty parts are left out of it. */
export const OBSERVATIONS_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['portico', 'version'],
  properties: {
    portico: { const: 'observations' },
    version: { const: 1 },
    sinceAt: moment,
    untilAt: moment,
    answers: count,
    dropped: count,
    open: recordOf(shape),
    described: recordOf(closed({ objects: { $ref: '#/$defs/objects' }, missing: recordOf(shape) })),
    vocabularies: recordOf(
      closed({
        seen: count,
        answers: count,
        ...span,
        other: count,
        quiet: count,
        quietAnswers: count,
        words: {
          ...recordOf(closed({ seen: count, answers: count })),
          propertyNames: { pattern: '^[A-Za-z][A-Za-z_-]{0,31}$' },
        },
      }),
    ),
    mistyped: recordOf(shape),
    envelopes: recordOf(shape),
    pages: recordOf(
      closed({
        honoured: count,
        honouredAnswers: count,
        accepted: count,
        refused: count,
        refusedAnswers: count,
        clamped: recordOf(count),
        unasked: recordOf(count),
        ...span,
      }),
    ),
    switches: recordOf(closed({ same: count, different: count, ...span })),
    paths: recordOf(closed({ seen: count, statuses: recordOf(count), body: shape, ...span })),
  },
  $defs: {
    objects: closed({
      seen: count,
      answers: count,
      fields: {
        ...recordOf(closed({ present: count, shape })),
        propertyNames: { pattern: '^[_$]?[A-Za-z][A-Za-z0-9_-]{0,39}$' },
      },
      nameless: count,
      rest: shape,
      rare: shape,
      map: { type: 'boolean' },
    }),
    shape: closed({
      seen: count,
      answers: count,
      ...span,
      nulls: count,
      booleans: count,
      fractions: count,
      integers: closed({ seen: count, wide: count, negative: count, instants: count }),
      texts: closed({ seen: count, forms: recordOf(count) }),
      arrays: closed({ seen: count, items: shape }),
      objects: { $ref: '#/$defs/objects' },
      cut: { type: 'boolean' },
    }),
  },
};
