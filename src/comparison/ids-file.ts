import { type Fault, StartFault } from '../engine/model/fault.ts';
import type { IdPair } from './identities.ts';

const MAX_FAULTS = 20;

/**
 * Parses a file of id pairs: one pair in each line, as `kind,old,new`. Ids for which the contract states no kind have
 * the place of their list instead. Throws a StartFault that lists the errors in the file.
 */
export function parseIds(text: string, source: string): readonly IdPair[] {
  const faults: Fault[] = [];
  const [toNew, toOld] = [new Map<string, string>(), new Map<string, string>()];
  const pairs = text.split('\n').flatMap((line, index): IdPair[] => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#') || (index === 0 && trimmed === HEADER)) return [];
    const [, space, old, next] = /^([a-z-]{1,40}|\/[^,\s]{1,300}),([^,\s]{1,100}),([^,\s]{1,100})$/.exec(trimmed) ?? [];
    const at = { source: `${source}:${index + 1}`, pointer: '' };
    if (space === undefined || old === undefined || next === undefined) {
      faults.push({ ...at, message: 'must be kind,old,new', suggestion: 'node,118,100118' });
      return [];
    }
    const known = [toNew.get(`${space} ${old}`) ?? next, toOld.get(`${space} ${next}`) ?? old];
    if (known[0] !== next || known[1] !== old)
      faults.push({ ...at, message: 'contradicts an earlier line: each id has only one counterpart' });
    toNew.set(`${space} ${old}`, next);
    toOld.set(`${space} ${next}`, old);
    return [{ space, old, new: next }];
  });
  if (faults.length > 0) throw new StartFault(faults.slice(0, MAX_FAULTS));
  return pairs;
}

const HEADER = 'kind,old,new';

const LEARNED = '# learned by portico compare: an id that is not listed here may have any counterpart';

/** Returns whether the pairs in a file were learned from responses, so that further ids can be learned. */
export const isLearned = (text: string) => text.split('\n').some((line) => line.trim() === LEARNED);

/** Formats learned pairs as a file. */
export function formatIds(pairs: Iterable<IdPair>): string {
  return [HEADER, LEARNED, ...Array.from(pairs, ({ space, old, new: next }) => `${space},${old},${next}`), ''].join(
    '\n',
  );
}
