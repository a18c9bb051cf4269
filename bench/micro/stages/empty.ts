import { fresh } from '../fixture.ts';
import { operation, type Stage } from '../stage.ts';

/** What the loop itself costs; every other stage contains it. */
export const empty: Stage = {
  name: '(nothing)',
  what: 'the loop of the measurement',
  paidBy: 'first',
  prepare: () =>
    operation(
      () => fresh('text'),
      (text) => text,
    ),
};
