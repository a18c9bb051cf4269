import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** Measures the cost of the loop, which every other stage includes. */
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
