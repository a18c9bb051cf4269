import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlainFields } from '../../src/http/plain-fields.ts';

const NOTHING = {
  authorization: undefined,
  ifNoneMatch: undefined,
  acceptEncoding: undefined,
  requestId: undefined,
  traceparent: undefined,
  tracestate: undefined,
  host: undefined,
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
  cookie: 'Cookie',
  authToken: 'X-Auth-Token',
} as const;
const UNUSUAL = [
  'Content-Length',
  'Transfer-Encoding',
  'Content-Type',
  'Expect',
  'Upgrade',
  'Cache-Control',
  'Pragma',
  'Proxy-Connection',
];
const spelled = (name: string) => [name, name.toLowerCase(), name.toUpperCase()];

describe('the fields of a plain request', () => {
  it.each(Object.entries(READ))('hold %s however its name is spelled', (key, name) => {
    for (const spelling of spelled(name))
      expect(createPlainFields()(['Accept', 'x', spelling, 'value'])).toEqual({ ...NOTHING, [key]: 'value' });
  });

  it('are none where there is a body, an expectation, another protocol or a wish for a fresh answer', () => {
    const read = createPlainFields();
    for (const name of UNUSUAL)
      for (const spelling of spelled(name)) {
        expect(read(['Host', 'a', spelling, '']), spelling).toBeUndefined();
        expect(read([spelling, '0', 'Host', 'a']), spelling).toBeUndefined();
      }
  });

  it('are none where one of them comes twice, however it is spelled and although it is empty', () => {
    const read = createPlainFields();
    for (const name of Object.values(READ))
      for (const second of spelled(name))
        for (const value of ['', 'x']) expect(read([name, value, second, 'x']), second).toBeUndefined();
  });

  it('leave out what changes nothing, twice too', () => {
    const names = ['Accept', 'Connection', 'X-Forwarded-For', '__proto__', 'constructor', 'x'.repeat(200)];
    const raw = [...names, ...names].flatMap((name) => [name, 'value']);
    expect(createPlainFields()(raw)).toEqual(NOTHING);
  });

  it('are read anew for each request', () => {
    const read = createPlainFields();
    read(['Authorization', 'Basic one', 'Host', 'a']);
    expect(read(['Host', 'b'])).toEqual({ ...NOTHING, host: 'b' });
    expect(read([])).toEqual(NOTHING);
  });

  it('are read the same after names in more spellings than are remembered', () => {
    const read = createPlainFields();
    for (let number = 0; number < 600; number += 1) read([`X-Odd-${number}`, '']);
    expect(read(['aUTHORIZATION', 'Basic one'])).toEqual({ ...NOTHING, authorization: 'Basic one' });
    expect(read(['pRAGMA', ''])).toBeUndefined();
    expect(read(['hOST', '', 'HOst', ''])).toBeUndefined();
  });

  it('follow one rule in any order and spelling', () => {
    const read = createPlainFields();
    const name = fc
      .constantFrom(...Object.values(READ), ...UNUSUAL, 'Accept', 'User-Agent', 'X-Authorization')
      .chain((one) => fc.mixedCase(fc.constant(one)));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string()), { maxLength: 6 }), (pairs) => {
        const of = (wanted: string) => pairs.filter(([one]) => one.toLowerCase() === wanted.toLowerCase());
        const plain =
          UNUSUAL.every((one) => of(one).length === 0) && Object.values(READ).every((one) => of(one).length < 2);
        const expected = Object.fromEntries(Object.entries(READ).map(([key, one]) => [key, of(one)[0]?.[1]]));
        expect(read(pairs.flat())).toEqual(plain ? expected : undefined);
      }),
    );
  });
});
