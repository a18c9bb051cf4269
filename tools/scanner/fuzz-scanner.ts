import { PROFILE } from '../../src/profile/profile.ts';
import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';
import { loadContract } from '../../src/engine/contract/load-contract.ts';
import { DEFAULT_JSON_LIMITS } from '../../src/lib/bounded-json.ts';
import { createSeededRandom } from '../../src/lib/seeded-random.ts';
import { createScanResponse } from '../../src/engine/pipeline/scan-response.ts';
import { openScanner } from '../../src/engine/scanner/open-scanner.ts';
import { type CompareBody, readExamples } from './compare-body.ts';
import { createCompareResponse } from './compare-response.ts';
import { mutateBytes, mutateValues } from './mutate-body.ts';

/** Queries that cause a different schema or different rules to apply to the response. */
const QUERIES = [
  '',
  'spaceId=5',
  'sort=newest&pageSize=50',
  'exclude=body',
  'include=id,title',
  'details=true',
  'wrap=1',
  'page=2',
];

/** The counts of a run. */
export interface FuzzReport {
  readonly compared: number;
  readonly valid: number;
  readonly invalid: number;
  /** The number of valid bodies that the scanner could not prove valid. */
  readonly closer: number;
  /** The scanner's wrong results, each with the body that caused it. */
  readonly wrong: readonly { readonly name: string; readonly what: string; readonly body: Buffer }[];
}

/** The options for a run. The same seed produces the same bodies. */
export interface FuzzOptions {
  readonly count: number;
  readonly seed: number;
  readonly onProgress?: (compared: number) => void;
}

/** The maximum number of wrong results to collect. */
const MAX_WRONG = 10;
const PROGRESS_EVERY = 10_000;

/** A documented response, with example bodies to mutate. */
interface Target {
  readonly name: string;
  readonly texts: readonly string[];
  readonly compare: CompareBody;
}

/** Returns a target for each success response in the contract and each query that the operation supports. */
function readTargets(): Target[] {
  const contract = loadContract(CONTRACT_DEFAULTS);
  const scan = createScanResponse(contract, openScanner(DEFAULT_JSON_LIMITS), PROFILE.items);
  return readExamples().responses.flatMap(({ operation: id, status, bodies }) =>
    QUERIES.flatMap((query) => {
      const operation = contract.operations.find((one) => one.id === id);
      if (operation === undefined) return [];
      // All path parameters are 118, which is the node's id in the example responses for operations 11 and 12.
      const inPath = operation.parameters.filter(({ location }) => location === 'path');
      const rawParameters = Object.fromEntries(inPath.map(({ name }) => [name, '118']));
      const { values, violations } = contract.decodeParameters(operation, { rawParameters }, query);
      if (violations.length > 0) return [];
      const compare = createCompareResponse(contract, scan, { operation, status, parameters: values });
      return [{ name: `${id} ${status} ${query}`, texts: bodies.map((body) => JSON.stringify(body)), compare }];
    }),
  );
}

/**
 * Mutates the examples of all success responses in the contract, and compares the scanner's results with those of the
 * parser and the validator.
 */
export function fuzzScanner({ count, seed, onProgress }: FuzzOptions): FuzzReport {
  const random = createSeededRandom(seed);
  const targets = readTargets();
  const counts = { valid: 0, invalid: 0, closer: 0 };
  const wrong: FuzzReport['wrong'][number][] = [];
  for (let compared = 0; compared < count; compared += 1) {
    // The responses are mutated in turn, so that each gets an equal share.
    const { name, texts, compare } = targets[compared % targets.length] as Target;
    const text = random.pick(texts);
    const body = random.chance(0.5) ? mutateValues(random, text) : mutateBytes(random, Buffer.from(text));
    const result = compare(body);
    if (result === 'both valid') counts.valid += 1;
    else if (result === 'both invalid') counts.invalid += 1;
    else if (result === 'closer') counts.closer += 1;
    else if (wrong.length < MAX_WRONG) wrong.push({ name, what: result, body });
    if ((compared + 1) % PROGRESS_EVERY === 0) onProgress?.(compared + 1);
  }
  return { compared: count, ...counts, wrong };
}
