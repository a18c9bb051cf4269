import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PATH_WORDS } from '../../../src/profile/path-words.ts';
import { ERRORS } from '../../../src/engine/errors/catalogue.ts';
import { FEATURES } from '../../../src/features.ts';
import { CHECK_NAMES } from '../../../src/engine/model/checks.ts';
import type { CheckVerdict, Trace } from '../../../src/engine/model/trace.ts';
import {
  type AccessLogOptions,
  createAccessLog,
  createLineBatch,
  LOG_LEVELS,
} from '../../../src/engine/telemetry/logs.ts';
import { anyCharacter } from '../../builders/any-text.ts';
import { readText, sectionOf, tableBy } from '../../readme/tables.ts';
import { responseViolation } from '../../builders/response-violation.ts';
import { finishedTrace } from './fixed-trace.ts';

describe('the access log file', () => {
  const TEMPLATE = '/services/v2/question.json';

  /** Returns the text that is logged for finished requests. */
  function textOf(traces: readonly Trace[], options: Partial<AccessLogOptions> = {}): string {
    let text = '';
    const log = createAccessLog({
      pathWords: PATH_WORDS,
      operations: [{ id: 'listQuestions', path: TEMPLATE }],
      level: 'info',
      clock: () => 1_700_000_001_000,
      stream: { write: (line: string) => void (text += line) },
      principalNames: false,
      fingerprintOf: (trace, { keyword }) => `f-${trace.operation ?? ''}-${keyword}`,
      ...options,
    });
    for (const trace of traces) log.record(trace);
    return text;
  }

  type Line = Record<string, unknown>;

  /** Returns the log's lines, each of which must be valid JSON. */
  const linesOf = (...given: Parameters<typeof textOf>): Line[] =>
    textOf(...given)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);

  const hit = (more: Partial<Trace> = {}) =>
    finishedTrace({
      authentication: { level: 'enforce', outcome: 'passed', principal: 'verified' },
      cache: { status: 'hit', ageSeconds: 1 },
      ...more,
    });

  const undocumented = (more: Partial<Trace>) => finishedTrace({ operation: undefined, ...more });

  describe('the access log', () => {
    it('writes the time of the clock, forwards and backwards', () => {
      const instants = [1_700_000_000_123, 1_700_000_000_123, 1_700_000_000_124, 1_700_000_000_122];
      const lines = linesOf(
        Array.from({ length: 4 }, () => finishedTrace()),
        { clock: () => instants.shift() ?? 0 },
      );
      expect(lines.map(({ time }) => time)).toEqual([
        '2023-11-14T22:13:20.123Z',
        '2023-11-14T22:13:20.123Z',
        '2023-11-14T22:13:20.124Z',
        '2023-11-14T22:13:20.122Z',
      ]);
    });

    it('writes one line per request with the facts of its trace', () => {
      const trace = finishedTrace({
        route: 'plan',
        authentication: { level: 'enforce', outcome: 'passed', principal: 'verified' },
        permissions: { level: 'report', outcome: 'reported' },
        cache: { status: 'miss', stored: true },
        upstream: { status: 200, shape: 'json', seconds: 0.0031234567, attempts: 1 },
      });
      expect(linesOf([trace])).toEqual([
        {
          level: 'info',
          time: '2023-11-14T22:13:21.000Z',
          requestId: 'req-1',
          traceId: '0af7651916cd43dd8448eb211c80319c',
          spanId: 'b7ad6b7169203331',
          operation: 'listQuestions',
          method: 'GET',
          path: TEMPLATE,
          route: 'plan',
          status: 200,
          seconds: 0.004,
          bytes: 1234,
          principal: 'verified',
          checks: { permissions: 'reported' },
          cache: 'miss',
          upstream: { status: 200, shape: 'json', seconds: 0.003123, attempts: 1 },
          msg: 'request',
        },
      ]);
    });

    it('contains the time at which each line is written', () => {
      const times = [0, 0, 1_000, 999, 1_700_000_000_000];
      const clock = () => left.shift() ?? 0;
      const left = [...times];
      const lines = linesOf(
        times.map(() => finishedTrace()),
        { clock },
      );
      expect(lines.map(({ time }) => time)).toEqual(times.map((at) => new Date(at).toISOString()));
    });

    it('shows the cause of a failed exchange with its system code', () => {
      const failure = { cause: 'tls_certificate_error', code: 'CERT_HAS_EXPIRED' } as const;
      const upstream = { status: undefined, shape: 'refused', seconds: 0.1, attempts: 1 };
      const [line] = linesOf([finishedTrace({ status: 502, error: 'upstream_refused', upstream, failure })]);
      expect(line).toMatchObject({ upstream: { shape: 'refused' }, upstreamFailure: failure });
    });

    it('shows the distinct fingerprints of violations, but at most eight', () => {
      const named = (keyword: string) => ({ ...responseViolation(), keyword });
      const violations = ['type', 'enum', 'type', ...Array.from({ length: 20 }, (_, at) => `rule-${at}`)].map(named);
      const [line] = linesOf([finishedTrace({ violations })]);
      expect(line).toMatchObject({ violations: 23 });
      expect(line?.['fingerprints']).toEqual(
        ['type', 'enum', ...Array.from({ length: 6 }, (_, at) => `rule-${at}`)].map(
          (rule) => `f-listQuestions-${rule}`,
        ),
      );
    });

    it('writes status 0 for a client that disconnected before the response', () => {
      const { status: _status, ...open } = finishedTrace();
      expect(linesOf([open])).toMatchObject([{ status: 0, level: 'info' }]);
    });

    it('writes no line for background work, which no client waits for', () => {
      expect(linesOf([finishedTrace({ background: true })])).toEqual([]);
    });

    it('writes the lines in the order of the requests', () => {
      const ids = ['a', 'b', 'c', 'd'];
      const traces = ids.map((requestId, at) => ({
        ...hit(at % 2 === 0 ? {} : { error: 'permission_denied', status: 403 }),
        requestId,
      }));
      expect(linesOf(traces).map(({ requestId }) => requestId)).toEqual(ids);
    });
  });

  describe('the level of a line', () => {
    it('is error for a response with a server error', () => {
      const traces = [hit(), hit({ status: 500, error: 'internal_error' }), hit({ status: 499 }), hit({ status: 0 })];
      const levels = linesOf(traces).map(({ level }) => level);
      expect(levels).toEqual(['info', 'error', 'info', 'info']);
    });

    it('decides whether it is written', () => {
      const traces = [hit(), hit({ status: 503 })];
      const written = LOG_LEVELS.map((level) => [level, linesOf(traces, { level }).map(({ status }) => status)]);
      expect(Object.fromEntries(written)).toEqual({
        trace: [200, 503],
        debug: [200, 503],
        info: [200, 503],
        warn: [503],
        error: [503],
        fatal: [],
        silent: [],
      });
    });
  });

  describe('the privacy of a line', () => {
    it('shows a keyed tag for a caller, and the name only if configured', () => {
      const traces = [
        finishedTrace({ caller: 'alice' }),
        hit({ caller: 'alice', violations: [responseViolation()] }),
        finishedTrace({ caller: 'bob' }),
      ];
      const [first, second, other] = linesOf(traces).map(({ caller }) => caller);
      expect(first).toMatch(/^[0-9a-f]{12}$/);
      expect(second).toBe(first);
      expect(other).not.toBe(first);
      // Each process has its own key, so that names cannot be looked up in a precomputed table.
      expect(linesOf(traces)[0]?.['caller']).not.toBe(first);
      const named = linesOf(traces, { principalNames: true });
      expect(named.map(({ caller }) => caller)).toEqual(['alice', 'alice', 'bob']);
    });

    it('shows no credential, no query and no values of a path', () => {
      const secret = Buffer.from('alice:s3cret-word').toString('base64');
      const target = `/services/v2/user/bob@example.org/question/4711.json?q=alice%40example.org&token=t0p`;
      const text = textOf([finishedTrace({ operation: undefined, target, caller: 'alice' }), hit({ target })]);
      for (const word of [secret, 's3cret', 'bob', 'example', '4711', 't0p', 'alice', 'token', '?'])
        expect(text).not.toContain(word);
      expect(text).toContain('"path":"/services/v2/user/{}/question/{}.json"');
      expect(text).toContain(`"path":"${TEMPLATE}"`);
    });

    it('shows any path on one line of bounded length', () => {
      const target = `/services/v2/user/%0a${'x'.repeat(300)}/alice@example.org/12345.json`;
      for (let times = 0; times < 2; times += 1)
        expect(linesOf([undocumented({ target })])[0]?.['path']).toBe('/services/v2/user/{}/{}/{}.json');
    });

    it('shows the right texts after more callers and paths than the cache holds', () => {
      const traces = Array.from({ length: 2500 }, (_, at) =>
        undocumented({
          caller: `caller ${at % 1250}`,
          target: `/services/v2/${'question/'.repeat(at % 3)}${at % 1250}`,
        }),
      );
      const lines = linesOf(traces);
      const paths = ['/services/v2/{}', '/services/v2/question/{}', '/services/v2/question/question/{}'];
      lines.forEach(({ path }, at) => expect(path).toBe(paths[at % 3]));
      for (let at = 0; at < 1250; at += 1) expect(lines[at]?.['caller']).toBe(lines[at + 1250]?.['caller']);
    });

    it('shows the stack of an internal error without its message', () => {
      const cause = new TypeError('no such user: alice@example.org', { cause: new Error('row 7: 555-1234') });
      const failed = finishedTrace({ status: 500, error: 'internal_error', cause });
      expect(linesOf([failed])).toMatchObject([
        { level: 'error', error: 'internal_error', cause: { name: 'TypeError', cause: { name: 'Error' } } },
      ]);
      const text = textOf([failed]);
      expect(text).toContain('logs.test.ts');
      expect(text).not.toMatch(/alice|555/);
    });
  });

  /** Returns the members of a log line, in the order that operators may rely on (docs/operations.md). */
  function expectedLine(trace: Trace, path: string): Line {
    return JSON.parse(JSON.stringify(expectedMembers(trace, path))) as Line;
  }

  /** Returns all members that a line can have, in order. Undefined members are left out of the line. */
  function expectedMembers(trace: Trace, path: string): Line {
    const { upstream } = trace;
    const checks = CHECK_NAMES.flatMap((name) => {
      const outcome = trace[name]?.outcome;
      return outcome === undefined || outcome === 'passed' ? [] : [[name, outcome]];
    });
    return {
      level: (trace.status ?? 0) >= 500 ? 'error' : 'info',
      time: '2023-11-14T22:13:21.000Z',
      requestId: trace.requestId,
      traceId: trace.traceparent.split('-')[1],
      spanId: trace.traceparent.split('-')[2],
      operation: trace.operation ?? 'undocumented',
      method: trace.method,
      path,
      route: trace.route,
      status: trace.status ?? 0,
      seconds: trace.seconds,
      bytes: trace.bytes,
      principal: trace.authentication?.principal,
      caller: trace.caller,
      checks: checks.length === 0 ? undefined : Object.fromEntries(checks),
      cache: trace.cache?.status,
      cacheShared: trace.cache?.shared || undefined,
      upstream: upstream && {
        status: upstream.status,
        shape: upstream.shape,
        seconds: upstream.seconds,
        attempts: upstream.attempts,
        requestId: upstream.requestId,
      },
      upstreamFailure: trace.failure,
      redacted: trace.redacted?.length || undefined,
      legacyAddress: trace.legacyAddress || undefined,
      error: trace.error,
      violations: trace.violations.length || undefined,
      fingerprints:
        trace.violations.length === 0 ? undefined : [`f-${trace.operation ?? ''}-${responseViolation().keyword}`],
      cause: trace.cause === undefined ? undefined : { name: 'string' },
      msg: 'request',
    };
  }

  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.constantFrom('alice', 'a"b', 'a\\b', 'a\nb', '\u0000', '\ud800', '\u2028', '</script>', 'x'.repeat(100)),
  );
  const perhaps = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  const seconds = fc.integer({ min: 0, max: 1e9 }).map((micros) => micros / 1e6);
  const verdict = fc.record({
    level: fc.constantFrom('enforce', 'report', 'off'),
    outcome: fc.constantFrom('passed', 'reported', 'refused', 'skipped', 'failed'),
  }) as fc.Arbitrary<CheckVerdict>;
  const trace: fc.Arbitrary<Trace> = fc
    .record({
      requestId: text,
      method: text,
      operation: perhaps(text),
      caller: perhaps(text),
      route: perhaps(fc.constantFrom('plan', 'passthrough')),
      status: perhaps(fc.constantFrom(0, 200, 304, 400, 403, 499, 500, 502)),
      seconds: perhaps(seconds),
      bytes: perhaps(fc.nat()),
      authentication: perhaps(
        fc
          .tuple(verdict, fc.constantFrom('verified', 'anonymous', 'unverified', 'none'))
          .map(([found, principal]) => Object.assign(found, { principal })),
      ),
      undocumented: perhaps(verdict),
      requests: perhaps(verdict),
      permissions: perhaps(verdict),
      pageBounds: perhaps(verdict),
      responses: perhaps(verdict.map((found) => Object.assign(found, { verdict: 'valid' as const }))),
      cache: perhaps(
        fc.record({
          status: fc.constantFrom('hit', 'stale', 'miss', 'bypass', 'coalesced'),
          shared: perhaps(fc.boolean()),
        }),
      ),
      upstream: perhaps(
        fc.record({
          status: perhaps(fc.constantFrom(200, 304, 404, 500)),
          shape: text,
          seconds,
          attempts: fc.constantFrom(1, 2),
          requestId: perhaps(text),
        }),
      ),
      failure: perhaps(fc.constantFrom({ cause: 'dns_error', code: 'ENOTFOUND' }, { cause: 'connection_terminated' })),
      redacted: perhaps(fc.array(text, { maxLength: 3 })),
      legacyAddress: perhaps(fc.boolean()),
      error: perhaps(fc.constantFrom(...Object.keys(ERRORS))),
      violations: fc.array(fc.constant(responseViolation()), { maxLength: 3 }),
      cause: perhaps(text),
    })
    .map((parts) => finishedTrace(parts as Partial<Trace>));

  describe('the line of any trace', () => {
    it('is one line of JSON with the members of the trace in a fixed order', () => {
      fc.assert(
        fc.property(trace, text, (one, template) => {
          const operations = one.operation === undefined ? [] : [{ id: one.operation, path: template }];
          const written = textOf([one], { operations, principalNames: true });
          expect(written.indexOf('\n')).toBe(written.length - 1);
          expect(JSON.stringify(JSON.parse(written))).toBe(
            JSON.stringify(expectedLine(one, one.operation === undefined ? TEMPLATE : template)),
          );
        }),
        { numRuns: 1000 },
      );
    });

    it('contains exactly the members that docs/operations.md describes', () => {
      const source = readText('src/engine/telemetry/logs.ts');
      const written = new Set([...source.matchAll(/"(\w+)":/g)].map(([, name = '']) => name));
      const rows = tableBy(sectionOf(readText('docs/operations.md'), 'The log'), 'field');
      const ofFeatures = FEATURES.flatMap(({ logFields = [] }) => logFields);
      const all = rows.flatMap(({ field = '' }) => field.split(', '));
      expect(all).toEqual(expect.arrayContaining(ofFeatures));
      const described = all.filter((field) => !ofFeatures.includes(field));
      const nested = ['shape', 'attempts'];
      expect(new Set([...described, ...nested])).toEqual(written);
      expect(described.toSorted()).toEqual(Object.keys(expectedMembers(finishedTrace(), TEMPLATE)).toSorted());
    });

    it('rounds seconds to six decimal places', () => {
      for (const took of [0.1 + 0.2, 5e-7, 1e-7, 1_234.567_890_12])
        expect(linesOf([hit({ seconds: took })])[0]?.['seconds']).toBe(Math.round(took * 1e6) / 1e6);
    });

    it('shows only known words of an undocumented target', () => {
      // fast-check's own paths take a second to prepare and rarely contain a known word.
      const unit = fc.constantFrom(...'a b z A Z 0 9 - . _ ~ ! $ & ( ) * + , ; = : @ %20 %2F %C3%A9 %FF'.split(' '));
      const segment = fc.oneof(fc.string({ unit, maxLength: 30 }), fc.constantFrom('node', 'v2', 'question.json', ''));
      const randomPath = fc
        .array(segment, { maxLength: 80, size: 'max' })
        .map((all) => all.map((one) => `/${one}`).join(''));
      fc.assert(
        fc.property(randomPath, text, (path, query) => {
          const [line] = linesOf([undocumented({ target: `/services/v2${path}?${query}` })]);
          expect(String(line?.['path'])).toMatch(/^(?:\/(?:[a-zA-Z]*|v\d{1,2}|\{\})(?:\.json)?)*…?$/);
        }),
      );
    });
  });
});

describe('line batches', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function batch() {
    const written: string[] = [];
    return { written, lines: createLineBatch({ write: (bytes) => void written.push(bytes.toString()) }) };
  }

  describe('a batch of lines', () => {
    it('writes the lines of 10 ms together and in order', () => {
      const { lines, written } = batch();
      lines.write('a\n');
      vi.advanceTimersByTime(9);
      lines.write('b\n');
      expect(written).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(written).toEqual(['a\nb\n']);
      lines.write('c\n');
      vi.advanceTimersByTime(10);
      expect(written).toEqual(['a\nb\n', 'c\n']);
    });

    it('writes a full buffer at once, and only once', () => {
      const { lines, written } = batch();
      const line = `${'x'.repeat(1023)}\n`;
      for (let times = 0; times < 62; times += 1) lines.write(line);
      expect(written).toEqual([]);
      lines.write(line);
      expect(written).toEqual([line.repeat(62)]);
      vi.advanceTimersByTime(100);
      expect(written).toEqual([line.repeat(62), line]);
    });

    it('writes every character unchanged, including a line that is longer than the buffer', () => {
      const { lines, written } = batch();
      const long = `${'ü€𝄞'.repeat(9000)}\n`;
      lines.write('é\n');
      lines.write(long);
      lines.write('\u{10FFFF}\n');
      lines.flush();
      expect(written).toEqual(['é\n', long, '\u{10FFFF}\n']);
    });

    it('writes bytes that later lines do not overwrite', () => {
      const given: Buffer[] = [];
      const lines = createLineBatch({ write: (bytes) => void given.push(bytes) });
      lines.write('first\n');
      lines.flush();
      lines.write('other\n');
      lines.flush();
      expect(given.map(String)).toEqual(['first\n', 'other\n']);
    });

    it('writes buffered lines once when flushed', () => {
      const { lines, written } = batch();
      lines.write('a\n');
      lines.flush();
      lines.flush();
      vi.advanceTimersByTime(100);
      expect(written).toEqual(['a\n']);
    });

    it('writes nothing and runs no timer while the buffer is empty', () => {
      const { lines, written } = batch();
      lines.flush();
      expect([written, vi.getTimerCount()]).toEqual([[], 0]);
      lines.write('a\n');
      expect(vi.getTimerCount()).toBe(1);
      lines.flush();
      expect(vi.getTimerCount()).toBe(0);
    });

    it('continues after a failure of its destination', () => {
      const written: string[] = [];
      let full = true;
      const lines = createLineBatch({
        write: (bytes) => {
          if (full) throw new Error('full');
          written.push(bytes.toString());
        },
      });
      lines.write('a\n');
      expect(() => lines.flush()).toThrow('full');
      full = false;
      lines.write('b\n');
      vi.advanceTimersByTime(10);
      expect(written).toEqual(['b\n']);
    });
  });
});
