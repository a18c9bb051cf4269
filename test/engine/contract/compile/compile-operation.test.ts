import { describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../../src/engine/contract/openapi-document.ts';
import { personalFields } from '../../../../src/engine/contract/compile/compile-operation.ts';
import { document } from '../sample.ts';

describe('the names of personal fields', () => {
  it('are the names of the fields that the contract marks', () => {
    const names = personalFields(document);
    for (const name of ['username', 'realname', 'emailHash', 'ip', 'avatarUrls', 'timeZone', 'content'])
      expect(names).toContain(name);
    for (const name of ['id', 'status', 'type', 'verb', 'list']) expect(names).not.toContain(name);
  });

  it('are found through references, lists and parts', () => {
    const schemas = {
      Mail: { type: 'string', 'x-pii': 'email' },
      Loop: { properties: { loop: { $ref: '#/components/schemas/Loop' } } },
      Thing: {
        allOf: [
          {
            properties: {
              mail: { $ref: '#/components/schemas/Mail' },
              mails: { items: { $ref: '#/components/schemas/Mail' } },
              either: { anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/Mail' }] },
              one: { oneOf: [{ type: 'null' }, { $ref: '#/components/schemas/Mail' }] },
              plain: { type: 'string' },
            },
          },
        ],
      },
    };
    const made = { components: { schemas }, paths: {} } as unknown as OpenApiDocument;
    expect([...personalFields(made)]).toEqual(['mail', 'mails', 'either', 'one']);
  });
});
