import type { Place } from '../config/settings.ts';
import type { Fault } from '../model/fault.ts';
import { FAULT_GRAMMAR } from '../reference/faults/fault-names.ts';
import { FaultSyntaxError, parseFaults } from '../reference/faults/parse-faults.ts';

/** What is wrong with the misbehaviours that the embedded upstream is asked for: nothing, or one fault at their place. */
export function misbehaviourFaults(texts: readonly string[], place: Place): readonly Fault[] {
  try {
    parseFaults(texts);
    return [];
  } catch (error) {
    if (!(error instanceof FaultSyntaxError)) throw error;
    const suggestion = `a fault is written ${FAULT_GRAMMAR}`;
    return [{ ...place, message: error.problems.join('; '), suggestion }];
  }
}
