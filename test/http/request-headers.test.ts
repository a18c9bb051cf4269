import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHeaderReader } from '../../src/http/request-headers.ts';

const NOTHING = {
  authorization: undefined,
  ifNoneMatch: undefined,
  acceptEncoding: undefined,
  requestId: undefined,
  traceparent: undefined,
  tracestate: undefined,
  host: undefined,
  expect: undefined,
  cookie: undefined,
  authToken: undefined,
};
const READ = {
  authorization: 'Authorization',
  ifNoneMatch: 'If-None-Match',
  acceptEncoding: 'Accept-Encoding',
  requestId: 'X-Request-Id',
  traceparent: 'Traceparent',
  tracestate: 'Tracestate',
  host: 'Host',
  expect: 'Expect',
  cookie: 'Cookie',
  authToken: 'X-Auth-Token',
} as const;
const spelled = (name: string) => [name, name.toLowerCase(), name.toUpperCase()];

describe('the headers that the gateway reads', () => {
  it.each(Object.entries(READ))('hold %s however its name is spelled', (key, name) => {
    for (const spelling of spelled(name))
      expect(createHeaderReader()(['Accept', 'x', spelling, 'value'])).toEqual({ ...NOTHING, [key]: 'value' });
  });

  it('tell an empty header from none', () => {
    for (const [key, name] of Object.entries(READ))
      expect(createHeaderReader()([name, ''])).toEqual({ ...NOTHING, [key]: '' });
  });

  // The attack: a second credential, id or condition, in the hope that one part of the gateway reads the first and another
  // part the second. All of them are one text (RFC 9110 §5.3), which is a usable credential for nobody.
  it('join what comes several times, however it is spelled and although it is empty', () => {
    const read = createHeaderReader();
    for (const [key, name] of Object.entries(READ))
      for (const second of spelled(name)) {
        const joined = name === 'Cookie' ? 'a=1; b=2; ' : 'a=1, b=2, ';
        expect(read([name, 'a=1', second, 'b=2', name, ''])).toEqual({ ...NOTHING, [key]: joined });
      }
  });

  it('leave out every other header', () => {
    const names = ['Accept', 'Connection', 'X-Forwarded-For', '__proto__', 'constructor', 'other', 'x'.repeat(200)];
    const raw = [...names, ...names].flatMap((name) => [name, 'value']);
    expect(createHeaderReader()(raw)).toEqual(NOTHING);
  });

  it('are read anew for each request', () => {
    const read = createHeaderReader();
    read(['Authorization', 'Basic one', 'Host', 'a']);
    expect(read(['Host', 'b'])).toEqual({ ...NOTHING, host: 'b' });
    expect(read([])).toEqual(NOTHING);
  });

  it('are read the same after names in more spellings than are remembered', () => {
    const read = createHeaderReader();
    for (let number = 0; number < 600; number += 1) read([`X-Odd-${number}`, '']);
    expect(read(['aUTHORIZATION', 'Basic one'])).toEqual({ ...NOTHING, authorization: 'Basic one' });
    expect(read(['hOST', 'a', 'HOst', 'b'])).toEqual({ ...NOTHING, host: 'a, b' });
  });

  it('follow one rule in any order and spelling', () => {
    const read = createHeaderReader();
    const name = fc
      .constantFrom(...Object.values(READ), 'Accept', 'User-Agent', 'X-Authorization')
      .chain((one) => fc.mixedCase(fc.constant(one)));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string()), { maxLength: 8 }), (pairs) => {
        const expected = Object.fromEntries(
          Object.entries(READ).map(([key, one]) => {
            const values = pairs.filter(([other]) => other.toLowerCase() === one.toLowerCase()).map(([, text]) => text);
            return [key, values.length === 0 ? undefined : values.join(one === 'Cookie' ? '; ' : ', ')];
          }),
        );
        expect(read(pairs.flat())).toEqual(expected);
      }),
    );
  });
});
