import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** An empty stage, whose measured cost is that of the loop. The cost of every other stage also includes the loop. */
export const empty: Stage = {
  name: '(nothing)',
  what: 'an empty loop, for comparison',
  paidBy: 'first',
  prepare: () =>
    operation(
      () => fresh('text'),
      (text) => text,
    ),
};
