import type { Contract } from '../contract/contract.ts';
import type { ContractOptions } from '../contract/contract-options.ts';
import { loadContract } from '../contract/load-contract.ts';
import { StartFault } from '../model/fault.ts';

// So much that a page full of known differences hides none of the candidate's own.
const MAX_COLLECTED = 1000;

/** Compiles the candidate contract, where one is configured; throws a StartFault whose faults say that they are its. */
export function loadCandidate({ candidate, ...contract }: ContractOptions): Contract | undefined {
  if (candidate === undefined) return undefined;
  try {
    const { folder = contract.folder, overlays } = candidate;
    return loadContract({
      ...contract,
      ...(folder !== undefined && { folder }),
      overlays,
      maxCollected: MAX_COLLECTED,
    });
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    throw new StartFault(
      error.faults.map(({ message, ...fault }) =>
        Object.assign(fault, { message: `the candidate contract: ${message}` }),
      ),
    );
  }
}
