import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { AcceptedViolation, Baseline } from '../model/baseline.ts';
import { StartFault } from '../model/fault.ts';
import { type Members, membersAt, textAt, valuesAt } from '../report/report-members.ts';

/** Reads a baseline; nothing is accepted without one. Throws StartFault. */
export function readAccepted(path: string | undefined): Baseline {
  if (path === undefined) return { accepted: [] };
  try {
    const file = membersAt(parse(readFileSync(path, 'utf8')) ?? { accepted: [] }, '');
    return {
      accepted: valuesAt(file, 'accepted', '').map((one, at) => toAccepted(membersAt(one, `/accepted/${at}`), at)),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StartFault([{ source: path, pointer: '', message }]);
  }
}

function toAccepted(one: Members, index: number): AcceptedViolation {
  const at = `/accepted/${index}`;
  return {
    fingerprint: textAt(one, 'fingerprint', at),
    reason: textAt(one, 'reason', at),
    owner: textAt(one, 'owner', at),
    expires: one['expires'] === undefined ? undefined : textAt(one, 'expires', at),
    summary: one['summary'] === undefined ? undefined : textAt(one, 'summary', at),
  };
}
