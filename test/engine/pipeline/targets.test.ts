import { describe, expect, it } from 'vitest';
import type { DecodedParameters } from '../../../src/engine/contract/compile/decode-parameters.ts';
import type { PathMatch } from '../../../src/engine/contract/paths.ts';
import type { CheckLevel } from '../../../src/engine/model/checks.ts';
import type { Plan } from '../../../src/engine/pipeline/plan.ts';
import {
  admit,
  createTargets,
  type Target,
  type TargetsParts,
  type TargetText,
  unsafeTargetReason,
} from '../../../src/engine/pipeline/targets.ts';
import {
  createNext,
  exchangeWith,
  kept,
  type PlannedParts,
  plannedWith,
  violationWith,
} from '../../builders/exchange.ts';
import { flatText, heldMemory } from '../../builders/held-memory.ts';

describe('targets', () => {
  const THINGS = '/services/v2/thing.json';

  interface Parts extends Partial<Pick<TargetsParts, 'maxBytes' | 'undocumented'>> {
    readonly planned?: PlannedParts;
    readonly decode?: (query: string | undefined) => Partial<DecodedParameters>;
  }

  const planWith = (planned: PlannedParts = {}): Plan => ({
    ...plannedWith(planned),
    stages: [],
    handle: createNext().handle,
  });

  /** Creates the targets for a contract with one list, and records the matched paths and the decoded queries. */
  function targetsWith({ planned = { cache: kept() }, decode = () => ({}), ...parts }: Parts = {}) {
    const plan = planWith(planned);
    const plans = new Map([[plan.operation.id, plan]]);
    const decoded: (string | undefined)[] = [];
    const matched: string[] = [];
    const match: PathMatch = {
      template: THINGS,
      byMethod: new Map([['GET', plan.operation]]),
      undocumentedMethods: new Set(),
      rawParameters: {},
    };
    const contract: TargetsParts['contract'] = {
      match: (path) => {
        matched.push(path);
        return path === THINGS ? match : undefined;
      },
      decodeParameters: (_operation, _match, query) => {
        decoded.push(query);
        return { values: exchangeWith().values(), violations: [], reported: [], ...decode(query) };
      },
    };
    const targets = createTargets({
      contract,
      plans,
      undocumented: () => ({ pass: true, permission: undefined, reported: false }),
      maxBytes: 16_000,
      ...parts,
    });
    const remember = (text: TargetText): Target => {
      const target = targets.resolve(text);
      targets.remember(text, target);
      return target;
    };
    /** Returns whether a target is resolved without being decoded. */
    const isKnown = (text: TargetText) => {
      const before = matched.length;
      const target = targets.resolve(text);
      return target !== undefined && matched.length === before;
    };
    return { targets, plan, plans, decoded, matched, remember, isKnown };
  }

  /** Returns the text of a request for the list, with this query. */
  function things(query?: string, more: Partial<TargetText> = {}): TargetText {
    const target = query === undefined ? THINGS : `${THINGS}?${query}`;
    return { method: 'GET', rawTarget: target, target, path: THINGS, query, ...more };
  }

  const admissionOf = (target: Target) => {
    if (target.plan === undefined) throw new Error('undocumented');
    return target.admit();
  };
  const known = (target: Target) => {
    const { values, ...rest } = admissionOf(target);
    return { ...rest, values: values() };
  };

  describe('a target', () => {
    it('is matched to its operation, for HEAD as for GET', () => {
      const { targets, plan } = targetsWith();
      for (const method of ['GET', 'HEAD']) expect(targets.resolve(things('q=x', { method })).plan).toBe(plan);
    });

    it('is decoded only on request, and only once', () => {
      const { targets, decoded } = targetsWith();
      const target = targets.resolve(things('q=x'));
      expect(decoded).toEqual([]);
      expect(admissionOf(target).target).toBe(`${THINGS}?q=x`);
      admissionOf(target).values();
      expect(decoded).toEqual(['q=x']);
    });

    it('gets the verdict of the policy if the contract does not contain its path or method', () => {
      const asked: unknown[] = [];
      const { targets } = targetsWith({
        undocumented: (method, path, byMethod) => {
          asked.push([method, path, byMethod === undefined]);
          return { pass: false, code: 'not_in_contract', allow: [] };
        },
      });
      const elsewhere = { method: 'GET', rawTarget: '/a', target: '/a', path: '/a', query: undefined };
      expect(targets.resolve(elsewhere)).toMatchObject({ plan: undefined, verdict: { code: 'not_in_contract' } });
      expect(targets.resolve(things(undefined, { method: 'PUT' })).plan).toBeUndefined();
      expect(asked).toEqual([
        ['GET', '/a', true],
        ['PUT', THINGS, false],
      ]);
    });

    it('throws if it cannot be read', () => {
      const { targets } = targetsWith();
      const unreadable: TargetText = {
        ...things(),
        get path(): string {
          throw new Error('unreadable');
        },
      };
      expect(() => targets.resolve(unreadable)).toThrow('unreadable');
    });
  });

  describe('the memo of targets', () => {
    it('finds a target by its exact text without reading the rest of the request', () => {
      const { targets, remember, isKnown, matched } = targetsWith();
      const text = things('page=2', { rawTarget: `/qa${THINGS}?page=2` });
      const target = remember(text);
      const before = matched.length;
      const again = targets.resolve({
        method: 'GET',
        rawTarget: text.rawTarget,
        get path(): string {
          throw new Error('the path was read');
        },
      } as TargetText);
      expect(matched).toHaveLength(before);
      expect(known(again)).toEqual(known(target));
      for (const rawTarget of [
        `${THINGS}?page=2`,
        `${text.rawTarget}&`,
        text.rawTarget.toUpperCase(),
        `/qa${THINGS}?page=%32`,
        `/qa${THINGS}?page=22`,
      ])
        expect(isKnown({ ...text, rawTarget }), rawTarget).toBe(false);
    });

    it('serves GET only: other methods are neither found nor stored', () => {
      const { targets, remember, isKnown } = targetsWith();
      for (const method of ['HEAD', 'PUT', 'get']) remember(things('q=x', { method }));
      expect(targets.size).toBe(0);
      remember(things('q=x'));
      for (const method of ['HEAD', 'PUT', 'get']) expect(isKnown(things('q=x', { method })), method).toBe(false);
      expect(isKnown(things('q=x'))).toBe(true);
    });

    it('remembers a refusal with all its details', () => {
      const violations = [violationWith()];
      const { targets, remember } = targetsWith({ decode: () => ({ violations }) });
      const target = remember(things('page=x'));
      const again = targets.resolve(things('page=x'));
      expect(again).not.toBe(target);
      expect(known(again)).toEqual(known(target));
      expect(admissionOf(again)).toMatchObject({ refusal: { code: 'invalid_parameter' }, violations });
    });

    it('decodes the parameters of a cacheable page again when needed, and stores those of other targets', () => {
      for (const [planned, times] of [
        [{ cache: kept() }, 2],
        [{}, 1],
      ] as const) {
        const { targets, remember, decoded } = targetsWith({ planned });
        remember(things('q=x'));
        const admission = admissionOf(targets.resolve(things('q=x')));
        expect(decoded).toEqual(['q=x']);
        expect(admission.values()).toEqual(exchangeWith().values());
        expect(decoded).toHaveLength(times);
      }
    });

    it('remembers undocumented paths that the policy allows', () => {
      const { targets, remember, matched } = targetsWith();
      const elsewhere = { method: 'GET', rawTarget: '/a', target: '/a', path: '/a', query: undefined };
      remember(elsewhere);
      expect(targets.resolve(elsewhere)).toMatchObject({ plan: undefined, verdict: { pass: true } });
      expect(matched).toEqual(['/a']);
    });

    it('does no work for a target that is already stored', () => {
      const { targets, remember, decoded } = targetsWith();
      const text = things('q=x');
      remember(text);
      const found = targets.resolve(text);
      targets.remember({ method: 'GET', rawTarget: text.rawTarget } as TargetText, found);
      expect(targets.resolve(text)).toBe(found);
      expect(decoded).toHaveLength(1);
    });

    it('is emptied when a plan is replaced, and stores nothing from a plan replaced during its request', () => {
      const { targets, plan, plans, remember, isKnown } = targetsWith();
      remember(things('q=x'));
      const pending = targets.resolve(things('q=y'));
      const other = planWith({ cache: kept() });
      plans.set(plan.operation.id, other);
      targets.clear();
      expect(targets.size).toBe(0);
      targets.remember(things('q=y'), pending);
      expect(isKnown(things('q=y'))).toBe(false);
      expect(targets.resolve(things('q=y')).plan).toBe(other);
    });
  });

  describe('a target whose parameters could not be decoded', () => {
    it('is not remembered, because decoding may succeed next time', () => {
      let breaks = true;
      const { targets, remember } = targetsWith({
        planned: { transparent: true },
        decode: () => {
          if (breaks) throw new RangeError('Maximum call stack size exceeded');
          return {};
        },
      });
      expect(admissionOf(remember(things('q=x')))).toMatchObject({ verdict: { outcome: 'failed' } });
      expect(targets.size).toBe(0);
      breaks = false;
      expect(admissionOf(remember(things('q=x')))).toMatchObject({ verdict: { outcome: 'passed' } });
      expect(targets.size).toBe(1);
    });
  });

  describe('the size of the memo', () => {
    it('stays within its byte limit and evicts the least recently used targets', () => {
      const { targets, remember, isKnown } = targetsWith();
      remember(things('first'));
      for (let number = 0; number < 1000; number += 1) {
        remember(things(`q=${number}`));
        targets.resolve(things('first'));
      }
      expect([isKnown(things('first')), isKnown(things('q=0')), isKnown(things('q=999'))]).toEqual([true, false, true]);
      expect(targets.size).toBeLessThanOrEqual(25);
      expect(targets.size).toBeGreaterThan(10);
    });

    it('includes the length of the texts, so that long ones cannot add up', () => {
      const { targets, remember } = targetsWith();
      const long = 'x'.repeat(2000);
      for (let number = 0; number < 10; number += 1) remember(things(`q=${number}${long}`));
      expect(targets.size).toBe(1);
    });

    it('excludes targets larger than the whole memo, and may be zero', () => {
      const { targets, remember } = targetsWith();
      remember(things(`q=${'x'.repeat(20_000)}`));
      expect(targets.size).toBe(0);
      const none = targetsWith({ maxBytes: 0 });
      none.remember(things());
      expect([none.targets.size, none.isKnown(things())]).toEqual([0, false]);
    });

    // The attack: if violations are only reported, targets with many violations are remembered along with all their
    // messages. If the limit counted only the target strings, the memo could use twenty times as much memory as
    // allowed.
    it.each([
      ['violations', { checks: { requests: 'report' }, cache: kept() }],
      ['decoded parameters', {}],
      ['the texts from which a cacheable page is decoded', { cache: kept() }],
    ] satisfies [string, PlannedParts][])('includes %s', async (_what, planned) => {
      const maxBytes = 2_000_000;
      const { targets, remember } = targetsWith({
        planned,
        maxBytes,
        decode: (query) => {
          const at = Number(query);
          const own = Array.from({ length: 25 }, (_one, index) => flatText(25 * at + index, 100));
          const violations = !('checks' in planned) ? [] : own.map((message) => violationWith({ message }));
          const pairs = own.map((text): [string, string[]] => [text, [text]]);
          return { violations, values: { ...exchangeWith().values(), query: new Map(pairs) } };
        },
      });
      const held = await heldMemory(() => {
        for (let number = 0; number < 4_000; number += 1) remember(things(String(number)));
      });
      expect(targets.size).toBeGreaterThan(100);
      expect(held).toBeLessThan(3 * maxBytes);
    });
  });
});

describe('admit', () => {
  const unknown = violationWith({
    category: 'not-allowed',
    keyword: 'unknown',
    at: 'colour',
    message: 'colour is odd',
  });
  const wrong = violationWith();
  const repeated = violationWith({ category: 'bounds', keyword: 'repeated' });
  const counted = violationWith({ category: 'undocumented', at: 'sort', message: 'sort is not documented' });

  function admitted(parts: PlannedParts & { readonly level?: CheckLevel }, found: Partial<DecodedParameters> = {}) {
    const { level = 'enforce', ...more } = parts;
    const planned = plannedWith({ ...more, checks: { requests: level } });
    const values = exchangeWith().values();
    const decoded: DecodedParameters = { values, violations: [], reported: [], ...found };
    const arrival = {
      path: '/services/v2/thing.json',
      query: 'page=1&q=a%20b&&',
      target: '/services/v2/thing.json?raw',
    };
    return admit(planned, { decodeParameters: () => decoded }, {} as PathMatch, arrival);
  }

  const pageValues = (page?: number, pageSize?: number) => ({ values: { ...exchangeWith().values(), page, pageSize } });

  // The attack: a query makes the decoder throw an error. In `observe` mode, the upstream must still receive the
  // query unchanged.
  it('continues without parameters if decoding throws and everything is forwarded unchanged', () => {
    const mistake = new RangeError('Maximum call stack size exceeded');
    const breaking = {
      decodeParameters: () => {
        throw mistake;
      },
    };
    const arrival = { path: '/services/v2/thing.json', query: 'q=%', target: '/services/v2/thing.json?q=%' };
    const match = { rawParameters: { nodeId: '7' } } as unknown as PathMatch;
    const admission = admit(plannedWith({ transparent: true }), breaking, match, arrival);
    expect([admission.target, admission.values().path]).toEqual([arrival.target, { nodeId: '7' }]);
    expect(admission).toMatchObject({ verdict: { outcome: 'failed' }, failure: mistake });
    expect(() => admit(plannedWith(), breaking, match, arrival)).toThrow(mistake);
  });

  it('admits valid parameters and records this', () => {
    const admission = admitted({});
    expect(admission.values().path).toEqual({});
    expect(admission).toMatchObject({ verdict: { level: 'enforce', outcome: 'passed' }, violations: [] });
    expect(admission.refusal).toBeUndefined();
  });

  it.each([
    ['an unknown parameter', unknown, 'unknown_parameter'],
    ['a repeated parameter', repeated, 'repeated_parameter'],
    ['a wrong value', wrong, 'invalid_parameter'],
  ] as const)('refuses %s at the `enforce` level', (_what, violation, code) => {
    expect(admitted({}, { violations: [violation] })).toMatchObject({
      refusal: { code, status: 400, details: [{ name: violation.at }] },
      verdict: { outcome: 'refused' },
      violations: [violation],
    });
  });

  it('reports the same at the `report` level', () => {
    const admission = admitted({ level: 'report' }, { violations: [wrong] });
    expect(admission).toMatchObject({ verdict: { level: 'report', outcome: 'reported' }, violations: [wrong] });
    expect(admission.refusal).toBeUndefined();
  });

  it('records nothing if requests are not checked', () => {
    const admission = admitted({ level: 'off' }, { violations: [wrong], reported: [counted] });
    expect(admission).toMatchObject({ verdict: { level: 'off', outcome: 'skipped' }, violations: [] });
    expect(admission.refusal).toBeUndefined();
  });

  it('counts a parameter that the contract tolerates, and never refuses it', () => {
    const admission = admitted({}, { reported: [counted] });
    expect(admission).toMatchObject({ verdict: { level: 'enforce', outcome: 'reported' }, violations: [counted] });
    expect(admission.refusal).toBeUndefined();
  });

  it("sends the canonical target: no first page, no empty parts, the client's own encoding", () => {
    expect(admitted({}, pageValues(1)).target).toBe('/services/v2/thing.json?q=a%20b');
  });

  it('keeps a page 1 that is not the default, and one with another meaning', () => {
    const followers = { firstPage: 0, observedPageSize: 35, hasPageCount: true } as const;
    const unchanged = '/services/v2/thing.json?page=1&q=a%20b';
    expect(admitted({ operation: { paging: followers } }, pageValues(1)).target).toBe(unchanged);
    expect(admitted({ operation: { paging: undefined } }, pageValues(1)).target).toBe(unchanged);
  });

  it('unifies an explicit default page size with an absent one only if the default is known', () => {
    const found = pageValues(undefined, 15);
    const target = (defaultPageSize: number | undefined) => {
      const planned = plannedWith({ defaultPageSize });
      const arrival = { path: '/a', query: 'pageSize=15', target: '/a?pageSize=15' };
      const decoded: DecodedParameters = { ...found, violations: [], reported: [] };
      return admit(planned, { decodeParameters: () => decoded }, {} as PathMatch, arrival).target;
    };
    expect([target(15), target(undefined), target(20)]).toEqual(['/a', '/a?pageSize=15', '/a?pageSize=15']);
  });

  it('sends the raw target in observe mode', () => {
    expect(admitted({ transparent: true }, pageValues(1)).target).toBe('/services/v2/thing.json?raw');
  });
});

// A path that Portico and the server behind it interpret differently could reach resources that no rule allows.
describe('a raw target', () => {
  it.each([
    '/services/v2/../admin',
    '/services/v2/./question.json',
    '/services/v2/%2e%2e/admin',
    '/services/v2/.%2E/admin',
    '/services/v2/..;/admin',
    '/services/v2/..;x=1/admin',
    '/services/v2/..%3b/admin',
    '/services/v2/comment/..%2f..%2fadmin.json',
    '/services/v2/comment/..%5c..%5cadmin.json',
    '/services/v2/..\\..\\admin',
    '/services/v2/comment/%00.json',
    '/services/v2/question.json#x',
    'services/v2/question.json',
  ])('%s is refused', (path) => {
    expect(unsafeTargetReason(path, undefined)).toBeTypeOf('string');
  });

  it.each([
    '/services/v2/question.json',
    '/services/v2/user/a.b.json',
    '/services/v2/user/..a.json',
    '/services/v2/user/%C3%A4.json',
    '/services/v2/user/a;b.json',
    '//services/v2/question.json',
  ])('%s is accepted unchanged', (path) => {
    expect(unsafeTargetReason(path, 'q=a%2Fb..%20c')).toBeUndefined();
  });

  it('with a NUL or a fragment in its query is refused', () => {
    expect(unsafeTargetReason('/a', 'q=%00')).toBeTypeOf('string');
    expect(unsafeTargetReason('/a', 'q=a#b')).toBeTypeOf('string');
  });
});
