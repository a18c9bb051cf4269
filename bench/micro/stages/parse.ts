import type { Stage } from '../stage.ts';

/** The stage that parses the JSON of a page. */
export const parse: Stage = {
  name: 'parse',
  what: 'decoding the 29 kB page to text, and JSON.parse',
  paidBy: 'miss',
  prepare: ({ body }) => ({ run: () => JSON.parse(body.toString('utf8')) as unknown }),
};
