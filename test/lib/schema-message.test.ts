import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { schemaMessage, withoutMisspelled } from '../../src/lib/schema-message.ts';

function errorsOf(schema: object, value: unknown, verbose: boolean) {
  const validate = new Ajv2020({ allErrors: true, strict: false, verbose }).compile(schema);
  validate(value);
  return validate.errors ?? [];
}

describe('the message for an error of a schema', () => {
  it.each<[schema: object, value: unknown, words: string]>([
    [{ type: 'object' }, 1, 'must be a mapping of keys to values'],
    [{ type: ['string', 'null'] }, 1, 'must be a string or null'],
    [{ type: 'integer' }, 'x', 'must be a whole number'],
    [{ minLength: 8 }, 'x', 'must have at least 8 characters'],
    [{ minLength: 1 }, '', 'must not be empty'],
    [{ maxLength: 1 }, 'xx', 'must have at most 1 character'],
    [{ minItems: 2 }, [], 'must have at least 2 items'],
    [{ maxProperties: 1 }, { a: 1, b: 1 }, 'must have at most 1 key'],
    [{ uniqueItems: true }, ['a', 'b', 'a'], 'has the same item twice, at 0 and 2'],
    [{ required: ['a'] }, {}, 'requires the key a'],
    [{ additionalProperties: false }, { a: 1 }, 'has the unknown key a'],
    [{ enum: ['a', 'b'] }, 'c', 'must be one of a, b'],
    [{ const: 1 }, 2, 'must be 1'],
    [{ minimum: 3 }, 2, 'must be at least 3'],
    [{ exclusiveMaximum: 3 }, 3, 'must be less than 3'],
    [{ pattern: '^a$' }, 'b', 'must match the regular expression ^a$'],
    [{ not: {} }, 1, 'is not allowed here'],
    [{ anyOf: [{ type: 'string' }, { type: 'boolean' }] }, 1, 'does not have any of the allowed forms'],
  ])('is in plain words: %j', (schema, value, words) => {
    for (const verbose of [true, false]) expect(errorsOf(schema, value, verbose).map(schemaMessage)).toContain(words);
  });

  it('never quotes the validator', () => {
    const keywords = { multipleOf: 2, maximum: 0, not: { const: 3 }, enum: [1], const: 1, type: 'string' };
    const messages = errorsOf(keywords, 3, true).map(schemaMessage);
    expect(messages).toHaveLength(6);
    expect(messages.join('\n')).not.toMatch(/must NOT|schema|undefined/);
  });
});

describe('the errors of an object with a misspelled key', () => {
  const schema = {
    additionalProperties: false,
    properties: { roles: {}, name: {} },
    required: ['roles', 'name'],
  };

  it('do not include that the meant key is missing', () => {
    const errors = errorsOf(schema, { rolse: 1 }, true);
    expect(withoutMisspelled(errors).map(schemaMessage)).toEqual([
      'requires the key name',
      'has the unknown key rolse',
    ]);
  });

  it('do not include a choice between keys of which one is misspelled', () => {
    const choice = { ...schema, required: [], oneOf: [{ required: ['roles'] }, { required: ['name'] }] };
    expect(withoutMisspelled(errorsOf(choice, { nmae: 1 }, true)).map(({ keyword }) => keyword)).not.toContain('oneOf');
    expect(withoutMisspelled(errorsOf(choice, {}, true)).map(({ keyword }) => keyword)).toContain('oneOf');
  });
});
