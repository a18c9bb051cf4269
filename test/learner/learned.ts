import { PROFILE } from '../../src/profile/profile.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Contract, loadContract } from '../../src/engine/contract/load-contract.ts';
import type { ResponseFindings } from '../../src/engine/contract/compile/check-response.ts';
import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';
import { createLearner, type Learner } from '../../src/learner/create-learner.ts';
import { emptyObservations } from '../../src/learner/observations/observations.ts';
import type { SampledResponse } from '../../src/learner/sample/sample-body.ts';
import type { Violation } from '../../src/engine/model/violation.ts';
import type { Limits, Proposal } from '../../src/workbench/learn/propose/proposal.ts';
import { propose } from '../../src/workbench/learn/propose/propose.ts';
import { readObservations, writeObservations } from '../../src/learner/observations/observation-file.ts';
import { toOverlay } from '../../src/workbench/learn/propose/to-overlay.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { document } from '../engine/contract/sample.ts';

/** The time shown by the test clocks. */
export const NOW = Date.UTC(2026, 4, 4, 10, 30);

/** The proposal limits that most tests use. */
export const LIMITS: Limits = { minResponses: 3, minConfidence: 0, writeAddresses: false };

/** Creates a learner for the bundled contract. */
export function learner(walk = false): Learner {
  return createLearner({ known: PROFILE, document, clock: () => NOW, before: emptyObservations(NOW), walk });
}

let requests = 0;
let items = 0;

/**
 * Returns a sampled response from the question list with the given parts. Each response belongs to a separate request.
 */
export function response(json: unknown, given: Partial<SampledResponse> = {}): SampledResponse {
  return {
    operation: 'listQuestions',
    status: 200,
    details: false,
    projected: false,
    wrap: false,
    v1: false,
    page: undefined,
    pageSize: undefined,
    request: `/services/v2/question.json?page=${(requests += 1)}`,
    json,
    ...given,
  };
}

/**
 * Returns a page of questions, with one copy of the contract's example item per argument. The argument's members
 * replace those of the example. Each item has its own id unless the argument contains one.
 */
export function page(...given: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const value = exampleOf('listQuestions');
  const [item] = value.list;
  const list = given.map((members) => Object.assign(structuredClone(item), { id: 1000 + (items += 1) }, members));
  return { ...value, list, listCount: list.length, totalCount: list.length };
}

/** The result of learning: the text of the file, the proposals, and the text of the overlay. */
export interface Learned {
  readonly file: string;
  readonly proposals: readonly Proposal[];
  readonly overlay: string;
}

/** Converts a learner's observations to file content and parses it again, as the command does. Returns the result. */
export function learnedBy(one: Learner, limits: Limits = LIMITS): Learned {
  const file = writeObservations(one.observations()) ?? '';
  const read = readObservations(file);
  if ('problem' in read) throw new Error(read.problem);
  const proposals = propose(read.observations, document, limits);
  const overlay = toOverlay(proposals, read.observations);
  return { file, proposals, overlay: overlay === undefined ? '' : stringify(overlay) };
}

/** Loads the bundled contract with an overlay. */
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

/** Returns the violations in a page of questions, each as its keyword and location. */
export const judge = (contract: Contract, json: unknown): string[] => namesOf(findingsOf(contract, json).violations);

/** Returns the advisories about a page of questions, each as its keyword and location. */
export const advise = (contract: Contract, json: unknown): string[] => namesOf(findingsOf(contract, json).reported);

const namesOf = (found: readonly Violation[]) => found.map(({ keyword, at }) => `${keyword} ${at}`);

function findingsOf(contract: Contract, json: unknown): ResponseFindings {
  const operation = contract.operations.find(({ id }) => id === 'listQuestions');
  const match = contract.match('/services/v2/question.json');
  if (operation === undefined || match === undefined) throw new Error('the contract has no question list');
  const { values } = contract.decodeParameters(operation, match, undefined);
  return contract.checkResponse(operation, values, { status: 200, mediaType: 'application/json', json });
}
