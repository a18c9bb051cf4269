import {
  accountAuthorization,
  faultsOf,
  type PasswordSources,
  readList,
  unknownKeys,
} from '../../comparison/accounts.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import type { Caller } from './run-comparison.ts';

const CALLER_KEYS = ['name', 'old', 'new'];
const MAX_CALLERS = 20;

/**
 * Reads the callers for whom both servers are asked. Each has its own account on each server, so that no credential
 * reaches a server for which it is not meant. Throws a StartFault that lists all errors.
 */
export function readCallers(text: string, source: string, passwords: PasswordSources): readonly Caller[] {
  const list = readList(text, source, 'callers', MAX_CALLERS, 'docs/moving.md');
  const faults: Fault[] = [];
  const fault = faultsOf(source, faults);
  const names = new Set<string>();
  const callers = list.map((item, index): Caller => {
    const pointer = `/callers/${index}`;
    const caller: PlainObject = isPlainObject(item) ? item : {};
    unknownKeys(caller, CALLER_KEYS, pointer, fault);
    const name = caller['name'];
    const isName = typeof name === 'string' && /^[\w .:-]{1,60}$/.test(name);
    if (!isName) fault(`${pointer}/name`, 'must be a name of at most 60 letters, digits, spaces or . : _ -');
    else if (names.has(name)) fault(`${pointer}/name`, 'is already the name of another caller');
    if (isName) names.add(name);
    const account = (side: 'old' | 'new') =>
      caller[side] === undefined || caller[side] === null
        ? undefined
        : accountAuthorization(caller[side], `${pointer}/${side}`, passwords, fault);
    if ((caller['old'] === undefined) !== (caller['new'] === undefined))
      fault(pointer, 'must have an account on both servers, or on none', 'add old and new');
    return { name: isName ? name : '', old: account('old'), new: account('new') };
  });
  if (faults.length > 0) throw new StartFault(faults);
  return callers;
}
