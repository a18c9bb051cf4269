import { exampleOf } from '../../builders/contract-examples.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import type { FakeHandler, FakeRequest, FakeResponse } from '../../builders/fake-upstream.ts';

type Item = Record<string, unknown>;

/** The lists of an upstream, which tests change. */
export interface FakeLists {
  readonly questions: Item[];
  readonly ideas: Item[];
  readonly articles: Item[];
  readonly actions: Item[];
  readonly handler: FakeHandler;
  /** Adds an item that is like that of the contract's example. */
  add(list: 'questions' | 'ideas' | 'articles' | 'actions', id: number, members?: Item): void;
  /** Changes an item. */
  change(list: 'questions' | 'ideas' | 'articles', id: number, members: Item): void;
}

const PATHS = { questions: 'question', ideas: 'idea', articles: 'article', actions: 'action' } as const;

/** Creates lists with a few old items. Questions and ideas are sorted by their last activity, articles by their ids. */
export function createFakeLists(start = 1_700_000_000_000): FakeLists {
  const lists = { questions: [] as Item[], ideas: [] as Item[], articles: [] as Item[], actions: [] as Item[] };
  const examples = {
    questions: exampleOf('listQuestions').list[0] as unknown as Item,
    ideas: exampleOf('listIdeas').list[0] as unknown as Item,
    articles: exampleOf('listArticles').list[0] as unknown as Item,
    actions: (exampleOf('listActions') as unknown as { actions: Item[] }).actions[0] as Item,
  };
  const page = (items: readonly Item[], { query }: FakeRequest): FakeResponse => {
    const size = Number(query.get('pageSize') ?? 15);
    const number = Number(query.get('page') ?? 1);
    const list = items.slice((number - 1) * size, number * size);
    const pageCount = Math.max(1, Math.ceil(items.length / size));
    const { sorts } = exampleOf('listQuestions') as unknown as { sorts: unknown };
    const counts = { page: number, pageSize: size, pageCount, listCount: list.length, totalCount: items.length };
    return { json: { name: '', sort: query.get('sort') ?? '', ...counts, sorts, list } };
  };
  const byActivity = (items: readonly Item[]) =>
    items.toSorted((a, b) => Number(b['lastActiveDate']) - Number(a['lastActiveDate']));
  const fake: FakeLists = {
    ...lists,
    handler(request) {
      const [name] = Object.entries(PATHS).find(([, path]) => request.path === `/services/v2/${path}.json`) ?? [];
      if (name === 'questions' || name === 'ideas') return page(byActivity(lists[name]), request);
      if (name === 'articles') return page(lists.articles, request);
      if (name !== 'actions') return exampleResponse(request);
      const size = Number(request.query.get('pageSize') ?? 20);
      const from = (Number(request.query.get('page') ?? 1) - 1) * size;
      const actions = lists.actions.toSorted((a, b) => Number(b['id']) - Number(a['id'])).slice(from, from + size);
      return { json: { actions, moreResults: 0 } };
    },
    add(list, id, members = {}) {
      const at = start + id * 1000;
      const dates = list === 'actions' ? {} : { creationDate: at, lastActiveDate: at };
      const own = list === 'ideas' ? String(id) : id;
      lists[list].push({ ...examples[list], ...dates, ...members, id: own });
    },
    change(list, id, members) {
      const index = lists[list].findIndex((item) => Number(item['id']) === id);
      lists[list][index] = { ...lists[list][index], ...members };
    },
  };
  for (let id = 1; id <= 3; id += 1) {
    for (const list of ['questions', 'ideas', 'articles'] as const) fake.add(list, id);
    fake.add('actions', id, { private: false });
  }
  return fake;
}
