import type { Stage } from '../stage.ts';

/** The stage that parses the JSON of a page. */
export const parse: Stage = {
  name: 'parse',
  what: 'bytes to text and JSON.parse of the 29 kB page',
  paidBy: 'miss',
  prepare: ({ body }) => ({ run: () => JSON.parse(body.toString('utf8')) as unknown }),
};
