import { describe, expect, it } from 'vitest';
import { contractWith, judge, learnedBy, learner, page, response } from '../../../learner/learned.ts';

const seen = (members: (at: number) => Record<string, unknown>, count = 30) => {
  const one = learner();
  const pages = Array.from({ length: count }, (_, at) => page(members(at)));
  for (const json of pages) one.sampleResponse(response(json));
  const { overlay, proposals, file } = learnedBy(one);
  const contract = contractWith(overlay);
  expect(contract.warnings).toEqual([]);
  const forms = proposals.filter(({ kind }) => kind === 'form').map(({ place, statement }) => `${place} ${statement}`);
  return { broken: pages.flatMap((json) => judge(contract, json)), forms, overlay, file };
};

describe('a proposal about values that break the contract', () => {
  it('accepts texts that do not have the documented form', () => {
    const { broken, forms, file } = seen((at) => ({ creationDateFormatted: `${at + 1}. Mai 2026` }));
    expect(broken).toEqual([]);
    expect(forms).toEqual([expect.stringMatching(/^FormattedDate breaks .*pattern: texts of the form plain$/)]);
    expect(file).not.toContain('Mai');
  });

  it('accepts numbers outside the documented bounds', () => {
    const { broken, forms } = seen((at) => ({ viewCount: -1 - at }));
    expect(broken).toEqual([]);
    expect(forms).toEqual([expect.stringMatching(/^CountedNode.viewCount breaks x-expected-minimum: integer$/)]);
  });

  it('adds a field that is documented as absent', () => {
    const { broken, forms, overlay } = seen((at) => ({ parentId: at }));
    expect(broken).toEqual([]);
    expect(forms).toEqual(['CountedNode.parentId exists and is integer, int64, although it is documented as absent']);
    expect(overlay).toContain('documented as absent, but it occurs');
  });

  it('is not made from a single object, however often it is returned', () => {
    const one = learner();
    for (let at = 0; at < 100; at += 1)
      one.sampleResponse(response(page({ id: 7, viewCount: -1, parentId: 3, creationDateFormatted: 'gestern' })));
    const forms = learnedBy(one, { minResponses: 3, minConfidence: 0.4, writeAddresses: false }).proposals.filter(
      ({ kind }) => kind === 'form',
    );
    expect(forms).toEqual([]);
  });

  it('is not made for values that the contract accepts', () => {
    expect(seen(() => ({})).forms).toEqual([]);
  });
});
