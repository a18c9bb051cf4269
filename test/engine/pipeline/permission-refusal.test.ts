import { describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../../src/engine/model/principal.ts';
import { permissionRefusal } from '../../../src/engine/pipeline/permission-refusal.ts';
import { callerNamed, exchangeWith, operationWith } from '../../builders/exchange.ts';

const CHALLENGE = 'Basic realm="test"';

describe('the refusal of a caller', () => {
  it('names every missing permission to a caller with a credential, without a challenge', () => {
    const error = permissionRefusal(operationWith(), exchangeWith(), ['See things', 'See more'], CHALLENGE);
    expect(error).toMatchObject({ status: 403, headers: {} });
    expect(error.details.map(({ permission }) => permission)).toEqual(['See things', 'See more']);
    expect(error.message).toContain('See things');
  });

  it('is a challenge to a caller without a credential', () => {
    expect(
      permissionRefusal(operationWith(), exchangeWith({ principal: ANONYMOUS }), ['See things'], CHALLENGE),
    ).toMatchObject({
      status: 401,
      code: 'credentials_required',
      headers: { 'WWW-Authenticate': CHALLENGE },
      details: [{ permission: 'See things' }],
    });
  });

  // Without a challenge, a client with a made-up name would receive a 403. The 403 would reveal that only a permission
  // is missing, and a browser would not prompt for a credential with that permission.
  it('is a challenge if the credential is unverified', () => {
    const claimed = exchangeWith({ principal: callerNamed('alice', { kind: 'unverified' }) });
    expect(permissionRefusal(operationWith(), claimed, ['See things'], CHALLENGE)).toMatchObject({
      status: 401,
      code: 'credentials_required',
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  });

  it.each([
    [
      { any: [{ flag: 'a' }, { flag: 'b' }] },
      ['a', 'b'],
      'the flag "a" or the flag "b"',
      [{ flag: 'a' }, { flag: 'b' }],
    ],
    [
      { all: [{ permission: 'a' }, { group: 'b' }] },
      ['a', 'b'],
      'the permission "a" and the group "b"',
      [{ permission: 'a' }, { group: 'b' }],
    ],
    [{ all: [{ permission: 'a' }, { group: 'b' }] }, ['b'], 'the group "b"', [{ group: 'b' }]],
    [{ any: [{ permission: 'a' }, { own: { permission: 'b' } }] }, ['a'], 'the permission "a"', [{ permission: 'a' }]],
  ] as const)('describes what is missing of %j: %j', (requires, missing, words, kinds) => {
    const { message, details } = permissionRefusal(operationWith({ requires }), exchangeWith(), missing, CHALLENGE);
    expect(message).toBe(`You need ${words} to do this.`);
    const text = expect.any(String) as string;
    expect(details).toEqual(kinds.map((kind) => Object.assign({ message: text }, kind)));
  });

  it('has no name for a requirement that is not a permission, a group or a flag', () => {
    const { details } = permissionRefusal(operationWith(), exchangeWith(), ['ownership of the node'], CHALLENGE);
    expect(details).toEqual([{ message: 'ownership of the node is required' }]);
  });

  it('has the documented text if the specification defines one', () => {
    const operation = operationWith({ documentedErrors: [{ status: 403, text: 'Attachments is disabled' }] });
    expect(permissionRefusal(operation, exchangeWith(), ['x'], CHALLENGE).message).toBe('Attachments is disabled');
  });
});
