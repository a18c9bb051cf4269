import { createSeededRandom } from '../../src/lib/seeded-random.ts';
import { createCompareBody, readExamples } from './compare-body.ts';
import { mutateBytes, mutateValues } from './mutate-body.ts';

/** The parts of a body that the later steps of some operation read. */
const EXCERPT = [
  ['/pageCount', '/totalCount', '/listCount', '/error', '/errors', '/id', '/author/username', '/activeRevisionId'],
  ['/list/*/id', '/list/*/author/username', '/list/*/activeRevisionId', '/list/*/containerIds/*', '/list/*/recipients'],
  ['/actions/*/node/id', '/actions/*/actionDate', '/*/id', '/*/recipients', '/result/favoriteAction/canceled'],
].flat();

/** The counts of a run. */
export interface FuzzReport {
  readonly compared: number;
  readonly valid: number;
  readonly invalid: number;
  /** Valid bodies that the scanner did not accept. */
  readonly closer: number;
  /** What the scanner did wrong, with the body. */
  readonly wrong: readonly { readonly file: string; readonly what: string; readonly body: Buffer }[];
}

/** A run of the fuzzer. The same seed makes the same bodies. */
export interface FuzzOptions {
  readonly count: number;
  readonly seed: number;
  readonly onProgress?: (compared: number) => void;
}

/** More wrong results are not collected. */
const MAX_WRONG = 10;
const PROGRESS_EVERY = 10_000;

/**
 * Mutates the examples of all success responses of the contract and compares the scanner's results with those of the
 * parser and the validator.
 */
export function fuzzScanner({ count, seed, onProgress }: FuzzOptions): FuzzReport {
  const random = createSeededRandom(seed);
  const { schemas, responses } = readExamples();
  const targets = responses.map(({ file, bodies }) => ({
    file,
    texts: bodies.map((body) => JSON.stringify(body)),
    compare: createCompareBody(schemas, file, EXCERPT),
  }));
  const counts = { valid: 0, invalid: 0, closer: 0 };
  const wrong: FuzzReport['wrong'][number][] = [];
  for (let compared = 0; compared < count; compared += 1) {
    // All responses in turn, so that each gets its share.
    const { file, texts, compare } = targets[compared % targets.length] as (typeof targets)[number];
    const text = random.pick(texts);
    const body = random.chance(0.5) ? mutateValues(random, text) : mutateBytes(random, Buffer.from(text));
    const result = compare(body);
    if (result === 'both valid') counts.valid += 1;
    else if (result === 'both invalid') counts.invalid += 1;
    else if (result === 'closer') counts.closer += 1;
    else if (wrong.length < MAX_WRONG) wrong.push({ file, what: result, body });
    if ((compared + 1) % PROGRESS_EVERY === 0) onProgress?.(compared + 1);
  }
  return { compared: count, ...counts, wrong };
}
