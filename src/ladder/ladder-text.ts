import type { LadderState, LadderStep } from './ladder-step.ts';
import { LADDER_CHECKS } from './ladder-step.ts';

const MOVES = ['promoted', 'demoted', 'lifted'] as const;
/** More than any contract has rungs; a longer file was not written by Portico. */
const MAX_STEPS = 10_000;

/** The text of the ladder's file: JSON that a person can read. */
export function formatLadder({ contract, since, steps }: LadderState): string {
  const written = steps.map((step) => ({ ...step, at: new Date(step.at).toISOString() }));
  return `${JSON.stringify({ version: 1, contract, since: new Date(since).toISOString(), steps: written }, null, 2)}\n`;
}

/** Reads the text of the ladder's file; throws an Error that says what is wrong with it. */
export function parseLadder(text: string): LadderState {
  const { version, contract, since, steps } = objectOf(jsonOf(text), 'the file');
  if (version !== 1) throw new Error('version must be 1');
  if (typeof contract !== 'string' || contract === '') throw new Error('contract must be a text');
  if (!Array.isArray(steps) || steps.length > MAX_STEPS) throw new Error('steps must be a list');
  const read = steps.map((step: unknown, index) => toStep(step, `steps[${index}]`));
  const rungs = new Set(read.map(({ operation, check }) => `${operation} ${check}`));
  if (rungs.size < read.length) throw new Error('steps names a check of an operation twice');
  return { contract, since: instantOf(since, 'since'), steps: read };
}

function toStep(value: unknown, place: string): LadderStep {
  const { operation, check, move, at, judged, failed, windowSeconds } = objectOf(value, place);
  const known = {
    check: LADDER_CHECKS.find((name) => name === check),
    move: MOVES.find((name) => name === move),
  };
  if (typeof operation !== 'string' || operation === '') throw new Error(`${place}.operation must be a text`);
  if (known.check === undefined) throw new Error(`${place}.check is no check of the ladder`);
  if (known.move === undefined) throw new Error(`${place}.move must be one of ${MOVES.join(', ')}`);
  if (known.move === 'demoted' && known.check !== 'responses')
    throw new Error(`${place} demotes ${known.check}, but only responses is ever demoted`);
  return {
    operation,
    check: known.check,
    move: known.move,
    at: instantOf(at, `${place}.at`),
    judged: countOf(judged, `${place}.judged`),
    failed: countOf(failed, `${place}.failed`),
    windowSeconds: countOf(windowSeconds, `${place}.windowSeconds`),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('it is no JSON');
  }
}

function objectOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${place} must be an object`);
  return value as Readonly<Record<string, unknown>>;
}

function instantOf(value: unknown, place: string): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw new Error(`${place} must be an instant`);
  return at;
}

function countOf(value: unknown, place: string): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new Error(`${place} must be a number`);
  return value;
}
