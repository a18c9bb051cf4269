import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Contract } from '../../src/contract/contract.ts';
import { CONTRACT_DEFAULTS } from '../../src/contract/contract-options.ts';
import { loadContract } from '../../src/contract/load-contract.ts';
import { createLearner, type Learner } from '../../src/learn/create-learner.ts';
import { emptyObservations } from '../../src/learn/observations/observations.ts';
import type { ObservedAnswer } from '../../src/learn/sample/sampled-response.ts';
import type { Limits, Proposal } from '../../src/learn/propose/proposal.ts';
import { propose } from '../../src/learn/propose/propose.ts';
import { readObservations } from '../../src/learn/observations/read-observations.ts';
import { toOverlay } from '../../src/learn/propose/to-overlay.ts';
import { writeObservations } from '../../src/learn/observations/write-observations.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { document } from '../contract/sample.ts';

/** An instant at which test clocks stand. */
export const NOW = Date.UTC(2026, 4, 4, 10, 30);

/** What is proposed unless a test says otherwise. */
export const LIMITS: Limits = { minAnswers: 3, minConfidence: 0, writeAddresses: false };

/** A learner over the contract of the package. */
export function learner(walk = false): Learner {
  return createLearner({ document, clock: () => NOW, before: emptyObservations(NOW), walk });
}

/** An answer of the question list; its parts can be chosen. */
export function answer(json: unknown, given: Partial<ObservedAnswer> = {}): ObservedAnswer {
  return {
    operation: 'listQuestions',
    status: 200,
    details: false,
    projected: false,
    wrap: false,
    v1: false,
    page: undefined,
    pageSize: undefined,
    question: '/services/v2/question.json?',
    json,
    ...given,
  };
}

/** A page of questions: the contract's example with members of its item replaced or added, one item for each. */
export function page(...items: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const value = exampleOf('listQuestions');
  const [item] = value.list;
  const list = items.map((members) => Object.assign(structuredClone(item), members));
  return { ...value, list, listCount: list.length, totalCount: list.length };
}

/** What came out of learning: the text of the file, the proposals, and the text of the overlay. */
export interface Learned {
  readonly file: string;
  readonly proposals: readonly Proposal[];
  readonly overlay: string;
}

/** Takes what a learner knows through its file, as the command does. */
export function learnedBy(one: Learner, limits: Limits = LIMITS): Learned {
  const file = writeObservations(one.observations()) ?? '';
  const read = readObservations(file);
  if ('problem' in read) throw new Error(read.problem);
  const proposals = propose(read.observations, document, limits);
  const overlay = toOverlay(proposals, read.observations);
  return { file, proposals, overlay: overlay === undefined ? '' : stringify(overlay) };
}

/** The package's contract with an overlay over it. */
export function contractWith(overlay: string): Contract {
  const folder = mkdtempSync(join(tmpdir(), 'portico-learn-'));
  try {
    const file = join(folder, 'learned.yaml');
    writeFileSync(file, overlay);
    return loadContract({ ...CONTRACT_DEFAULTS, overlays: overlay === '' ? [] : [file] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a contract says of a page of questions, as `keyword at`. */
export function judge(contract: Contract, json: unknown): string[] {
  const operation = contract.operations.find(({ id }) => id === 'listQuestions');
  const match = contract.match('/services/v2/question.json');
  if (operation === undefined || match === undefined) throw new Error('the contract has no question list');
  const { values } = contract.decodeParameters(operation, match, undefined);
  const { violations } = contract.judgeResponse(operation, values, {
    status: 200,
    mediaType: 'application/json',
    json,
  });
  return violations.map(({ keyword, at }) => `${keyword} ${at}`);
}
