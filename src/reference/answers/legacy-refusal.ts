import type { LegacyAnswer } from './legacy-answer.ts';

/** Carries a refusing answer out of an operation to the one place that writes answers. */
export class LegacyRefusal extends Error {
  readonly answer: LegacyAnswer;

  constructor(answer: LegacyAnswer) {
    super(`refused with ${answer.status}`);
    this.name = 'LegacyRefusal';
    this.answer = answer;
  }
}

/** Ends the operation with the given answer. */
export function refuse(answer: LegacyAnswer): never {
  throw new LegacyRefusal(answer);
}
