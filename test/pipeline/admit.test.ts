import { describe, expect, it } from 'vitest';
import type { DecodedParameters } from '../../src/contract/compile/decode-parameters.ts';
import type { PathMatch } from '../../src/contract/paths.ts';
import type { CheckLevel } from '../../src/model/checks.ts';
import { admit } from '../../src/pipeline/admit.ts';
import { exchangeWith, type PlannedParts, plannedWith, violationWith } from '../builders/exchange.ts';

const unknown = violationWith({ category: 'undocumented', keyword: 'unknown', at: 'colour', message: 'colour is odd' });
const wrong = violationWith();
const repeated = violationWith({ category: 'bounds', keyword: 'repeated' });
const counted = violationWith({ category: 'undocumented', at: 'sort', message: 'sort is not documented' });

function admitted(parts: PlannedParts & { readonly level?: CheckLevel }, found: Partial<DecodedParameters> = {}) {
  const { level = 'enforce', ...more } = parts;
  const planned = plannedWith({ ...more, checks: { requests: level } });
  const values = exchangeWith().values();
  const decoded: DecodedParameters = { values, violations: [], reported: [], ...found };
  const arrival = { path: '/services/v2/thing.json', query: 'page=1&q=a%20b&&', target: '/services/v2/thing.json?raw' };
  return admit(planned, { decodeParameters: () => decoded }, {} as PathMatch, arrival);
}

const pageValues = (page?: number, pageSize?: number) => ({ values: { ...exchangeWith().values(), page, pageSize } });

describe('admit', () => {
  // The attack: a query on which decoding breaks. In observe the upstream gets it as it came.
  it('goes on without parameters where decoding breaks and everything passes as it is', () => {
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

  it('passes right parameters on and says so', () => {
    const admission = admitted({});
    expect(admission.values().path).toEqual({});
    expect(admission).toMatchObject({ verdict: { level: 'enforce', outcome: 'passed' }, violations: [] });
    expect(admission.refusal).toBeUndefined();
  });

  it.each([
    ['an unknown parameter', unknown, 'unknown_parameter'],
    ['a repeated parameter', repeated, 'repeated_parameter'],
    ['a wrong value', wrong, 'invalid_parameter'],
  ] as const)('refuses %s at enforce', (_what, violation, code) => {
    expect(admitted({}, { violations: [violation] })).toMatchObject({
      refusal: { code, status: 400, details: [{ name: violation.at }] },
      verdict: { outcome: 'refused' },
      violations: [violation],
    });
  });

  it('reports the same at report', () => {
    const admission = admitted({ level: 'report' }, { violations: [wrong] });
    expect(admission).toMatchObject({ verdict: { level: 'report', outcome: 'reported' }, violations: [wrong] });
    expect(admission.refusal).toBeUndefined();
  });

  it('says nothing where requests are not checked', () => {
    const admission = admitted({ level: 'off' }, { violations: [wrong], reported: [counted] });
    expect(admission).toMatchObject({ verdict: { level: 'off', outcome: 'skipped' }, violations: [] });
    expect(admission.refusal).toBeUndefined();
  });

  it('counts a parameter that the contract lets pass, and never refuses it', () => {
    const admission = admitted({}, { reported: [counted] });
    expect(admission).toMatchObject({ verdict: { level: 'enforce', outcome: 'reported' }, violations: [counted] });
    expect(admission.refusal).toBeUndefined();
  });

  it('sends the canonical target: no first page, no empty pieces, the own encoding of the client', () => {
    expect(admitted({}, pageValues(1)).target).toBe('/services/v2/thing.json?q=a%20b');
  });

  it('keeps a page 1 that is not the first one, and one that means nothing', () => {
    const followers = { firstPage: 0, observedPageSize: 35, hasPageCount: true } as const;
    const kept = '/services/v2/thing.json?page=1&q=a%20b';
    expect(admitted({ operation: { paging: followers } }, pageValues(1)).target).toBe(kept);
    expect(admitted({ operation: { paging: undefined } }, pageValues(1)).target).toBe(kept);
  });

  it('merges a page size with an absent one only where the default is known', () => {
    const found = pageValues(undefined, 15);
    const target = (defaultPageSize: number | undefined) => {
      const planned = plannedWith({ defaultPageSize });
      const arrival = { path: '/a', query: 'pageSize=15', target: '/a?pageSize=15' };
      const decoded: DecodedParameters = { ...found, violations: [], reported: [] };
      return admit(planned, { decodeParameters: () => decoded }, {} as PathMatch, arrival).target;
    };
    expect([target(15), target(undefined), target(20)]).toEqual(['/a', '/a?pageSize=15', '/a?pageSize=15']);
  });

  it('sends the raw target in observe', () => {
    expect(admitted({ transparent: true }, pageValues(1)).target).toBe('/services/v2/thing.json?raw');
  });
});
