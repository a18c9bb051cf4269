import { PROFILE } from '../../src/profile/profile.ts';
import { describe, expect, it } from 'vitest';
import { createLearner } from '../../src/learner/create-learner.ts';
import { emptyObservations } from '../../src/learner/observations/observations.ts';
import { document } from '../engine/contract/sample.ts';
import { contractWith, judge, learnedBy, learner, NOW, page, response } from './learned.ts';

const times = (count: number, step: (at: number) => void) => Array.from({ length: count }, (_, at) => step(at));

const sized = (pageSize: number, items: number) => ({
  ...page(...Array.from({ length: items }, () => ({}))),
  pageSize,
});

describe('a learner', () => {
  it('samples the first responses of an operation, and later one in sixteen', () => {
    const one = learner();
    const wanted = Array.from({ length: 460 }, () => one.shouldSample('listQuestions'));
    expect(wanted.slice(0, 300).every(Boolean)).toBe(true);
    expect(wanted.slice(300).filter(Boolean)).toHaveLength(10);
    expect(one.shouldSample('listIdeas')).toBe(true);
  });

  // A guess must not become more certain just because a monitor polls the same page all day.
  it('learns as much from a page that is polled a thousand times as from the page alone', () => {
    const polled = learner();
    const once = learner();
    const request = '/services/v2/question.json?page=1';
    const items = Array.from({ length: 25 }, (_, at) => ({ id: at, badge: 1, nodeStates: ['closed', 'by somebody'] }));
    once.sampleResponse(response(page(...items), { request, pageSize: 25 }));
    times(1000, (at) => {
      // The first half of the responses are identical. In the second half, a counter changes, and the items are in
      // reverse order.
      const counted = at < 500 ? items : items.map((item) => Object.assign({ viewCount: at }, item)).toReversed();
      polled.sampleResponse(response(page(...counted), { request, pageSize: 25 }));
    });
    const confidences = (one: ReturnType<typeof learner>) =>
      learnedBy(one).proposals.map(({ place, statement, confidence }) => ({ place, statement, confidence }));
    expect(confidences(polled)).toEqual(confidences(once));
  });

  it('counts an object once, however many addresses return it', () => {
    const one = learner();
    const author = { id: 5, username: 'x', reputation: 1, badge: 1 };
    times(40, () => one.sampleResponse(response(page({ author }))));
    const found = () => learnedBy(one).proposals.find(({ place }) => place.endsWith('.badge'));
    // The name of a field is not stored if only a single object has that field.
    expect(found()).toBeUndefined();
    times(3, (at) => one.sampleResponse(response(page({ author: { ...author, id: 6 + at } }))));
    expect(found()?.evidence).toMatchObject({ seen: 4, answers: 4 });
  });

  it('closes a vocabulary and expects a field only after many distinct items', () => {
    const overlayOf = (distinct: number) => {
      const one = learner();
      times(400, (at) => one.sampleResponse(response(page({ id: at % distinct, badge: 1, nodeStates: ['closed'] }))));
      return learnedBy(one).overlay;
    };
    expect(overlayOf(10)).not.toMatch(/enum:|required:|x-expected:/);
    expect(overlayOf(100)).toMatch(/x-expected:\n\s+- badge/);
    expect(overlayOf(100)).toMatch(/x-expected-enum:\n\s+- closed/);
  });

  // A vocabulary must not count as complete just because a monitor keeps polling a few items or the gateway is
  // restarted every day.
  it('does not close a vocabulary with items that are counted again after each restart', () => {
    let before = emptyObservations(NOW);
    for (let run = 0; run < 60; run += 1) {
      const one = createLearner({ known: PROFILE, document, clock: () => NOW, before });
      times(4, (at) => one.sampleResponse(response(page({ id: at, nodeStates: ['closed'] }))));
      before = one.observations();
    }
    expect(learnedBy(createLearner({ known: PROFILE, document, clock: () => NOW, before })).overlay).not.toContain(
      'enum:',
    );
  });

  it('does not require a field that an object lacks in another response', () => {
    const one = learner();
    times(100, (at) => one.sampleResponse(response(page({ id: at, badge: 1 }))));
    expect(learnedBy(one).overlay).toMatch(/x-expected:\n\s+- badge/);
    one.sampleResponse(response(page({ id: 7 })));
    expect(learnedBy(one).overlay).not.toMatch(/x-expected:\n\s+- badge/);
  });

  it('ignores the fields of responses whose shape a switch may have changed', () => {
    const one = learner();
    times(5, () => one.sampleResponse(response(page({ serialNumber: 1 }), { wrap: true })));
    times(5, () => one.sampleResponse(response(page({ serialNumber: 1 }), { v1: true })));
    expect(learnedBy(one).overlay).toBe('');
  });

  it('does not count a field as missing if the caller did not request it', () => {
    const one = learner();
    times(30, () => one.sampleResponse(response(page({ badge: 1 }))));
    times(30, () => one.sampleResponse(response({ ...page(), list: [{ id: 7 }], listCount: 1 }, { projected: true })));
    const { overlay, proposals } = learnedBy(one);
    expect(proposals.filter(({ kind }) => kind === 'optional')).toEqual([]);
    expect(overlay).toMatch(/x-expected:\n\s+- badge/);
  });

  it('learns nothing from responses of varying types in place of a page', () => {
    const one = learner();
    times(5, () => one.sampleResponse(response({ error: 'no', list: [] })));
    times(5, () => one.sampleResponse(response([1, 2, 3])));
    times(5, () => one.sampleResponse(response({ data: page({}) })));
    expect(learnedBy(one).overlay).toBe('');
  });

  it.each([
    ['an error', { error: 'no', code: 7 }, 200],
    ['errors', { errors: { message: 'no' } }, 200],
    ['another status', { note: 'no' }, 500],
  ])('does not mistake %s for another envelope', (_, json, status) => {
    const one = learner();
    times(5, () => one.sampleResponse(response(json, { status })));
    expect(learnedBy(one).proposals.filter(({ kind }) => kind === 'envelope')).toEqual([]);
  });

  it('does not propose an envelope that every object would match', () => {
    const one = learner();
    times(4, () => one.sampleResponse(response({ first: 1 })));
    times(4, () => one.sampleResponse(response({ second: 1 })));
    expect(learnedBy(one).proposals.filter(({ kind }) => kind === 'envelope')).toEqual([]);
  });

  it('proposes a schema for a page without its envelope, or in another one, which the contract then accepts', () => {
    const bare = learner();
    times(5, () => bare.sampleResponse(response(page({}, {})['list'])));
    expect(learnedBy(bare).proposals).toMatchObject([
      { kind: 'envelope', place: 'GET /services/v2/question.json', statement: 'is also array of Question' },
    ]);
    const contract = contractWith(learnedBy(bare).overlay);
    expect(judge(contract, page({})['list'])).toEqual([]);
    expect(judge(contract, page({ id: 'x' })['list'])).toEqual(['type /0/id']);
    expect(judge(contract, page({ score: 'x' }))).toEqual(['type /list/0/score']);
    const wrapped = learner();
    times(5, () => wrapped.sampleResponse(response({ data: page({}) })));
    const other = contractWith(learnedBy(wrapped).overlay);
    expect(judge(other, { data: page({}) })).toEqual([]);
    expect(judge(other, page({ score: 'x' }))).toEqual(['type /list/0/score']);
    expect(judge(other, { more: 1 })).not.toEqual([]);
  });

  it('does not store path segments that are rare or may be personal', () => {
    const one = learner();
    times(5, () => one.sampleResponse(response(page({ author: { id: 1, username: 'quentin', reputation: 1 } }))));
    const request = (path: string) =>
      one.samplePath({ method: 'GET', path: `/services/v2/${path}`, status: 200, json: { id: 1 } });
    times(2, () => request('unusual.json'));
    times(5, () => request('quentin.json'));
    times(5, () => request('user/jana77/petr.json'));
    times(5, () => request('widget.json'));
    const { file, proposals } = learnedBy(one);
    expect(file).not.toMatch(/unusual|quentin|jana|petr/);
    expect(
      proposals.filter(({ kind }) => kind === 'path').map(({ place, evidence }) => `${place} ${evidence.seen}`),
    ).toEqual([
      'GET /services/v2/{name}.json 7',
      'GET /services/v2/user/{name}/{name}.json 5',
      'GET /services/v2/widget.json 5',
    ]);
  });

  it('counts a page size as honored only if the page has that many items', () => {
    const one = learner();
    times(5, () => one.sampleResponse(response(sized(1000, 2), { pageSize: 1000 })));
    times(5, () => one.sampleResponse(response(sized(3, 3), { pageSize: 3 })));
    expect(learnedBy(one).proposals.map(({ statement }) => statement)).toContain(
      '3 is honored; no larger page was requested from a list with enough items',
    );
  });

  it('finds the largest page size of a server that silently truncates pages', () => {
    const one = learner();
    const cut = { ...sized(200, 80), totalCount: 500 };
    times(4, () => one.sampleResponse(response(cut, { pageSize: 200 })));
    // This page is short because it is the last page, not because the server truncated it.
    times(9, () => one.sampleResponse(response({ ...sized(50, 20), totalCount: 120 }, { pageSize: 50, page: 3 })));
    expect(learnedBy(one).proposals.map(({ statement }) => statement)).toContain('80 is the largest page');
  });

  it('reports refused page sizes, and all lists in one description', () => {
    const one = learner();
    const refuse = (operation: string, pageSize: number) =>
      one.sampleResponse(response({ error: 'too large' }, { operation, status: 400, pageSize }));
    times(3, () => one.sampleResponse(response(sized(60, 60), { pageSize: 60 })));
    refuse('listQuestions', 200);
    refuse('listQuestions', 61);
    times(3, () => refuse('listIdeas', 500));
    const { proposals, overlay } = learnedBy(one);
    expect(
      proposals.filter(({ kind }) => kind === 'page-size').map(({ place, statement }) => `${place}: ${statement}`),
    ).toEqual(['listQuestions: 60 is the largest size that is not refused', 'listIdeas: 500 is refused']);
    expect(overlay.replaceAll(/\s+/g, ' ')).toContain(
      'Seen: listQuestions: 60 is the largest size that is not refused; listIdeas: 500 is refused.',
    );
  });

  it.each([['before'], ['after']])(
    'does not attribute a refusal to the page size %s a larger one was accepted',
    (when) => {
      const one = learner(true);
      const refuse = (pageSize: number) =>
        one.sampleResponse(response({ error: 'no such sort' }, { status: 400, pageSize }));
      if (when === 'before') times(3, () => refuse(10));
      times(3, () => one.sampleResponse(response(sized(60, 60), { pageSize: 60 })));
      if (when === 'after') times(3, () => refuse(10));
      times(3, () => refuse(500));
      const { proposals } = learnedBy(one);
      expect(proposals.filter(({ kind }) => kind === 'page-size').map(({ statement }) => statement)).toEqual([
        '60 is honored, 500 is refused',
      ]);
    },
  );

  it('reports a switch that changes the shape of responses', () => {
    const one = learner();
    times(3, (at) => {
      const request = `/services/v2/question.json?page=${at}`;
      one.sampleResponse(response({ wrapped: page({}) }, { wrap: true, request }));
      one.sampleResponse(response(page({}), { request }));
    });
    expect(learnedBy(one).proposals.map(({ place, statement }) => `${place} ${statement}`)).toContain(
      'wrap changes the shape of the responses of listQuestions',
    );
  });

  it('preserves the name of a documented field among keys that are data', () => {
    const one = learner();
    times(4, () =>
      one.sampleResponse(response(page({ tally: { 'jana@example.org': 1, 'max@example.org': 2, score: 3 } }))),
    );
    expect(learnedBy(one).overlay).toMatch(/score:\n\s+type: integer/);
  });
});
