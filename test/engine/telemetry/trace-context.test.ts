import { describe, expect, it } from 'vitest';
import {
  createRandomHex,
  sampledContext,
  type Sampling,
  siblingSpan,
  traceContext,
} from '../../../src/engine/telemetry/trace-context.ts';

describe('a trace context', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c';
  const PARENT = 'b7ad6b7169203331';

  const stateOf = (tracestate: string) =>
    traceContext({ traceparent: `00-${TRACE}-${PARENT}-00`, tracestate }).tracestate;

  it('continues the trace of the caller under a new span', () => {
    const context = traceContext({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'a=1, b=2' });
    expect(context.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(context.traceparent).not.toContain(PARENT);
    expect(context.tracestate).toBe('a=1,b=2');
  });

  it('continues a trace of a later version as version 00', () => {
    expect(traceContext({ traceparent: `cc-${TRACE}-${PARENT}-09-what-comes` }).traceparent).toMatch(
      new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`),
    );
  });

  it.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['upper case', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ['the version ff', `ff-${TRACE}-${PARENT}-01`],
    ['extra fields after version 00', `00-${TRACE}-${PARENT}-01-x`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['two headers in one', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
    ['a line break', `00-${TRACE}-${PARENT}-01\r\nx: y`],
  ])('starts a new trace without the state for %s', (_case, traceparent) => {
    const context = traceContext({ ...(traceparent !== undefined && { traceparent }), tracestate: 'a=1' });
    expect(context.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(context.traceId).not.toBe(TRACE);
    expect(context.tracestate).toBeUndefined();
  });

  it('forwards at most 32 members and 512 characters of state, only whole members', () => {
    expect(stateOf(Array.from({ length: 40 }, (_, i) => `k${i}=v`).join(','))?.split(',')).toHaveLength(32);
    const long = stateOf(Array.from({ length: 10 }, (_, i) => `k${i}=${'v'.repeat(97)}`).join(','));
    expect(long?.length).toBeLessThanOrEqual(512);
    expect(long?.split(',')).toHaveLength(5);
  });

  it('drops a state that is malformed or names a key twice', () => {
    expect(stateOf('a=1,a=2')).toBeUndefined();
    expect(stateOf('a=1,B@@=2')).toBeUndefined();
    expect(stateOf('a=1\r\nx: y')).toBeUndefined();
  });
});

describe('a sampled trace context', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c';
  const PARENT = 'b7ad6b7169203331';
  const parent = (flags: string, trace = TRACE) => ({ traceparent: `00-${trace}-${PARENT}-${flags}` });
  const half: Sampling = { ratio: 0.5, follow: 'trustedProxies' };
  const isSampled = ({ own }: { own: string }) => own.endsWith('-01');
  /** Returns how many of 2,000 contexts are sampled. */
  const share = (create: () => { own: string }) => Array.from({ length: 2_000 }, create).filter(isSampled).length;

  it('has a span of its own and one for the exchange, in the same trace and with the same flag', () => {
    const { own, traceparent, traceId, parentId } = sampledContext(parent('00'), { ratio: 1, follow: 'nobody' }, false);
    expect([traceId, parentId]).toEqual([TRACE, PARENT]);
    expect(own).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(new Set([own, traceparent, `00-${TRACE}-${PARENT}-01`]).size).toBe(3);
  });

  it('is sampled for the configured fraction of new traces', () => {
    expect(share(() => sampledContext({}, half, false))).toBeGreaterThan(850);
    expect(share(() => sampledContext({}, half, false))).toBeLessThan(1_150);
    expect(share(() => sampledContext({}, { ...half, ratio: 0 }, false))).toBe(0);
    expect(share(() => sampledContext({}, { ...half, ratio: 1 }, false))).toBe(2_000);
  });

  it('follows the flag of a trusted caller', () => {
    const never: Sampling = { ratio: 0, follow: 'trustedProxies' };
    expect(isSampled(sampledContext(parent('01'), never, true))).toBe(true);
    expect(isSampled(sampledContext(parent('01'), never, false))).toBe(false);
    expect(isSampled(sampledContext(parent('00'), { ...never, ratio: 1 }, true))).toBe(false);
    expect(isSampled(sampledContext(parent('00'), { ratio: 1, follow: 'everyone' }, false))).toBe(false);
  });

  // An attacker chooses a trace id that falls within every sampling fraction, so that every request is exported.
  it('does not depend on the trace id of an untrusted caller', () => {
    for (const trace of ['f'.repeat(32), '1'.repeat(32)]) {
      const sampled = share(() => sampledContext(parent('01', trace), half, false));
      expect([sampled > 850, sampled < 1_150]).toEqual([true, true]);
    }
  });

  it('depends only on the trace id of a trusted caller if flags are ignored, as in other services', () => {
    const ignored: Sampling = { ratio: 0.5, follow: 'nobody' };
    expect(share(() => sampledContext(parent('00', 'f'.repeat(32)), ignored, true))).toBe(2_000);
    expect(share(() => sampledContext(parent('01', '1'.repeat(32)), ignored, true))).toBe(0);
  });
});

describe('a sibling span', () => {
  it('differs only in its id', () => {
    const { own } = sampledContext({}, { ratio: 1, follow: 'nobody' }, false);
    const sibling = siblingSpan(own);
    expect(sibling).toMatch(new RegExp(`^${own.slice(0, 36)}[0-9a-f]{16}-01$`));
    expect(sibling).not.toBe(own);
  });
});

describe('random hexadecimal digits', () => {
  it('have the requested length', () => {
    const draw = createRandomHex();
    for (const digits of [1, 16, 32, 64]) expect(draw(digits)).toMatch(new RegExp(`^[0-9a-f]{${digits}}$`));
  });

  it('come from the generator in order, each used once', () => {
    let filled = '';
    let next = 0;
    const draw = createRandomHex((bytes) => {
      const pool = Buffer.from(Array.from({ length: bytes }, () => (next += 37) % 256));
      filled += pool.toString('hex');
      return pool;
    });
    let drawn = '';
    for (let times = 0; times < 1000; times += 1) drawn += draw(16);
    expect(drawn).toBe(filled.slice(0, drawn.length));
  });

  it('discard the rest of a pool that is too short', () => {
    let fills = 0;
    const draw = createRandomHex((bytes) => {
      fills += 1;
      return Buffer.alloc(bytes, fills);
    });
    const seen = new Set<string>();
    for (let times = 0; times < 400; times += 1) seen.add(draw(48));
    expect(fills).toBe(3);
    expect([...seen]).toEqual(['01', '02', '03'].map((byte) => byte.repeat(24)));
  });

  it('rarely call the generator and do not repeat', () => {
    const fills: number[] = [];
    const draw = createRandomHex((bytes) => {
      fills.push(bytes);
      return crypto.getRandomValues(Buffer.alloc(bytes));
    });
    const seen = new Set(Array.from({ length: 1000 }, () => draw(32)));
    expect(seen.size).toBe(1000);
    expect(fills).toHaveLength(4);
  });
});
