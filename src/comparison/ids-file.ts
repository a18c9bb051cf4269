import { type Fault, StartFault } from '../engine/model/fault.ts';
import type { IdPair } from './identities.ts';

const MAX_FAULTS = 20;

/**
 * Parses a file of id pairs: one pair in each line, as `kind,old,new`. Throws a StartFault that lists the errors in the
 * file.
 */
export function parseIds(text: string, source: string): readonly IdPair[] {
  const faults: Fault[] = [];
  const [toNew, toOld] = [new Map<string, string>(), new Map<string, string>()];
  const pairs = text.split('\n').flatMap((line, index): IdPair[] => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#') || (index === 0 && trimmed === HEADER)) return [];
    const [, space, old, next] = /^([a-z-]{1,40}),([^,\s]{1,100}),([^,\s]{1,100})$/.exec(trimmed) ?? [];
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

/** Formats pairs as a file. */
export function formatIds(pairs: Iterable<IdPair>): string {
  return [HEADER, ...Array.from(pairs, ({ space, old, new: next }) => `${space},${old},${next}`), ''].join('\n');
}
