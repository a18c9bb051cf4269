import { describe, expect, it } from 'vitest';
import { createRandomHex, traceContext } from '../../src/telemetry/trace-context.ts';

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
