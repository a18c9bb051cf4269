import { describe, expect, it } from 'vitest';
import { answer, contractWith, judge, learnedBy, learner, page } from './learned.ts';

const times = (count: number, step: (at: number) => void) => Array.from({ length: count }, (_, at) => step(at));

const sized = (pageSize: number, items: number) => ({
  ...page(...Array.from({ length: items }, () => ({}))),
  pageSize,
});

describe('a learner', () => {
  it('wants all of the first answers of an operation, and later one in sixteen', () => {
    const one = learner();
    const wanted = Array.from({ length: 460 }, () => one.wants('listQuestions'));
    expect(wanted.slice(0, 300).every(Boolean)).toBe(true);
    expect(wanted.slice(300).filter(Boolean)).toHaveLength(10);
    expect(one.wants('listIdeas')).toBe(true);
  });

  it('learns nothing of fields from answers whose shape a switch may have changed', () => {
    const one = learner();
    times(5, () => one.observeAnswer(answer(page({ serialNumber: 1 }), { wrap: true })));
    times(5, () => one.observeAnswer(answer(page({ serialNumber: 1 }), { v1: true })));
    expect(learnedBy(one).overlay).toBe('');
  });

  it('does not take for absent what a caller did not ask for', () => {
    const one = learner();
    times(30, () => one.observeAnswer(answer(page({ badge: 1 }))));
    times(30, () => one.observeAnswer(answer({ ...page(), list: [{ id: 7 }], listCount: 1 }, { projected: true })));
    const { overlay, proposals } = learnedBy(one);
    expect(proposals.filter(({ kind }) => kind === 'optional')).toEqual([]);
    expect(overlay).toMatch(/required:\n\s+- badge/);
  });

  it('learns nothing from what is now one thing and now another where a page should be', () => {
    const one = learner();
    times(5, () => one.observeAnswer(answer({ error: 'no', list: [] })));
    times(5, () => one.observeAnswer(answer([1, 2, 3])));
    times(5, () => one.observeAnswer(answer({ data: page({}) })));
    expect(learnedBy(one).overlay).toBe('');
  });

  it.each([
    ['an error', { error: 'no', code: 7 }, 200],
    ['errors', { errors: { message: 'no' } }, 200],
    ['another status', { note: 'no' }, 500],
  ])('takes nothing for another envelope that is none: %s', (_, json, status) => {
    const one = learner();
    times(5, () => one.observeAnswer(answer(json, { status })));
    expect(learnedBy(one).proposals.filter(({ kind }) => kind === 'envelope')).toEqual([]);
  });

  it('proposes no envelope that every object would keep to', () => {
    const one = learner();
    times(4, () => one.observeAnswer(answer({ first: 1 })));
    times(4, () => one.observeAnswer(answer({ second: 1 })));
    expect(learnedBy(one).proposals.filter(({ kind }) => kind === 'envelope')).toEqual([]);
  });

  it('tells of a page that comes without its envelope, or in another, and accepts it from then on', () => {
    const bare = learner();
    times(5, () => bare.observeAnswer(answer(page({}, {})['list'])));
    expect(learnedBy(bare).proposals).toMatchObject([
      { kind: 'envelope', place: 'GET /services/v2/question.json', statement: 'is also array of Question' },
    ]);
    const contract = contractWith(learnedBy(bare).overlay);
    expect(judge(contract, page({})['list'])).toEqual([]);
    expect(judge(contract, page({ id: 'x' })['list'])).toEqual(['type /0/id']);
    expect(judge(contract, page({ score: 'x' }))).toEqual(['type /list/0/score']);
    const wrapped = learner();
    times(5, () => wrapped.observeAnswer(answer({ data: page({}) })));
    const other = contractWith(learnedBy(wrapped).overlay);
    expect(judge(other, { data: page({}) })).toEqual([]);
    expect(judge(other, page({ score: 'x' }))).toEqual(['type /list/0/score']);
    expect(judge(other, { more: 1 })).not.toEqual([]);
  });

  it('keeps no word of an address that is somebody’s or that was asked for once or twice', () => {
    const one = learner();
    times(5, () => one.observeAnswer(answer(page({ author: { id: 1, username: 'quentin', reputation: 1 } }))));
    const ask = (path: string) =>
      one.observePath({ method: 'GET', path: `/services/v2/${path}`, status: 200, json: { id: 1 } });
    times(2, () => ask('seldom.json'));
    times(5, () => ask('quentin.json'));
    times(5, () => ask('user/jana77/petr.json'));
    times(5, () => ask('widget.json'));
    const { file, proposals } = learnedBy(one);
    expect(file).not.toMatch(/seldom|quentin|jana|petr/);
    expect(
      proposals.filter(({ kind }) => kind === 'path').map(({ place, evidence }) => `${place} ${evidence.seen}`),
    ).toEqual([
      'GET /services/v2/{name}.json 7',
      'GET /services/v2/user/{name}/{name}.json 5',
      'GET /services/v2/widget.json 5',
    ]);
  });

  it('believes a page size only where that many items came', () => {
    const one = learner();
    times(5, () => one.observeAnswer(answer(sized(1000, 2), { pageSize: 1000 })));
    times(5, () => one.observeAnswer(answer(sized(3, 3), { pageSize: 3 })));
    expect(learnedBy(one).proposals.map(({ statement }) => statement)).toContain(
      '3 is honoured; nothing larger was tried with as many items',
    );
  });

  it('finds the largest page of a server that cuts pages off without saying so', () => {
    const one = learner();
    const cut = { ...sized(200, 80), totalCount: 500 };
    times(4, () => one.observeAnswer(answer(cut, { pageSize: 200 })));
    // The last page is short for another reason.
    times(9, () => one.observeAnswer(answer({ ...sized(50, 20), totalCount: 120 }, { pageSize: 50, page: 3 })));
    expect(learnedBy(one).proposals.map(({ statement }) => statement)).toContain('80 is the largest page');
  });

  it('tells sizes that are refused, and all lists in one description', () => {
    const one = learner();
    const refuse = (operation: string, pageSize: number) =>
      one.observeAnswer(answer({ error: 'too large' }, { operation, status: 400, pageSize }));
    times(3, () => one.observeAnswer(answer(sized(60, 60), { pageSize: 60 })));
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
    'does not take a refusal for another reason for one of the size, %s a larger one was accepted',
    (when) => {
      const one = learner(true);
      const refuse = (pageSize: number) =>
        one.observeAnswer(answer({ error: 'no such sort' }, { status: 400, pageSize }));
      if (when === 'before') times(3, () => refuse(10));
      times(3, () => one.observeAnswer(answer(sized(60, 60), { pageSize: 60 })));
      if (when === 'after') times(3, () => refuse(10));
      times(3, () => refuse(500));
      const { proposals } = learnedBy(one);
      expect(proposals.filter(({ kind }) => kind === 'page-size').map(({ statement }) => statement)).toEqual([
        '60 is honoured, 500 is refused',
      ]);
    },
  );

  it('tells of a switch that changes the shape of answers', () => {
    const one = learner();
    times(3, (at) => {
      const question = `/services/v2/question.json?page=${at}`;
      one.observeAnswer(answer({ wrapped: page({}) }, { wrap: true, question }));
      one.observeAnswer(answer(page({}), { question }));
    });
    expect(learnedBy(one).proposals.map(({ place, statement }) => `${place} ${statement}`)).toContain(
      'wrap changes the shape of answers to listQuestions',
    );
  });

  it('keeps a field of the contract’s own name beside keys that are data', () => {
    const one = learner();
    times(4, () =>
      one.observeAnswer(answer(page({ tally: { 'jana@example.org': 1, 'max@example.org': 2, score: 3 } }))),
    );
    expect(learnedBy(one).overlay).toMatch(/score:\n\s+type: integer/);
  });
});
