import { Type } from 'typebox';
import type { Profile } from '../../src/engine/contract/api-profile.ts';
import { RANK } from '../../src/engine/contract/exploration.ts';
import type { Feature } from '../../src/engine/feature.ts';

const options = Type.Object({ enabled: Type.Boolean({ default: true }) }, { default: {} });

/** The till, which some shops lack. */
export const cashTill: Feature<typeof options> = { name: 'cashTill', options };

/** The profile of a small API that has nothing in common with the community Q&A API. */
export const BOOKSHOP: Profile = {
  basePath: '/shop/',
  pathWords: new Set(['shop', 'books', 'till']),
  probePath: '/shop/till',
  semanticRules: [
    {
      name: 'in-stock',
      description: 'A list of books in stock contains no others.',
      reads: ['stock'],
      excerpt: (item) => [`${item}/stock`],
      appliesTo: ({ query }) => query.get('inStock')?.[0] === 'true',
      check: (json) =>
        (json as { books: { stock?: number }[] }).books.flatMap(({ stock }, index) =>
          stock === 0 ? [{ at: `/books/${index}/stock`, message: 'stock must not be 0' }] : [],
        ),
    },
  ],
  requestRules: [
    {
      name: 'isbn-checksum',
      description: 'The last digit of the ISBN is its checksum.',
      plan: () => (body) => {
        const { isbn } = body as { isbn: string };
        const sum = isbn
          .split('')
          .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
        if (sum % 10 === 0) return { violations: [] };
        const violation = { check: 'requests', direction: 'request', category: 'semantic', location: 'body' } as const;
        const message = 'the checksum of the ISBN is wrong';
        return { violations: [{ ...violation, at: '/isbn', keyword: 'isbn-checksum', schemaPath: '', message }] };
      },
    },
  ],
  serverErrors: [{ name: 'problem', at: ['problem', 'text'] }],
  exploration: {
    missingPath: '/shop/books/none',
    discoverIds: (text) =>
      (text.match(/(?<="id":)\d+/g) ?? []).map((id) => ({ parameter: 'bookId', id, isPreferred: false })),
    variationsOf: ({ id }) => (id === 'listBooks' ? [{ query: 'inStock=true', rank: RANK.filters }] : []),
    learningSteps: [],
    probedLists: [],
  },
  examples: {
    operation: 'listBooks',
    accepted: 'books?page=1',
    invalid: 'books?page=x',
    restricted: 'books/7',
  },
  items: {
    kind: 'book',
    idOf: () => ['id'],
    authorOf: ({ id, seller }) => (typeof seller === 'string' ? [String(id), seller] : undefined),
    authorAt: ['/seller'],
  },
  findOwner: ({ bookId }) => (bookId === undefined ? { kind: 'unknown' } : { kind: 'author of', id: bookId }),
  purgedBy: (path) => (path.startsWith('/shop/books') ? ['books'] : undefined),
};
