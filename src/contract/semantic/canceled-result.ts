import { toObject } from '../items-of.ts';
import type { Finding } from './semantic-rule.ts';

/** What is wrong with the action that an unfavourite or unwikify answers: it must be canceled and have its verb. */
export function canceledResult(json: unknown, member: string, verb: string): Finding[] {
  const action = toObject(toObject(toObject(json)?.['result'])?.[member]);
  if (!action) return [];
  const at = `/result/${member}`;
  const findings: Finding[] = [];
  if (action['canceled'] !== true) findings.push({ at: `${at}/canceled`, message: `${member} must be canceled` });
  if (action['verb'] !== verb) findings.push({ at: `${at}/verb`, message: `${member} must have the verb ${verb}` });
  return findings;
}
