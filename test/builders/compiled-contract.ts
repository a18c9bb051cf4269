import { type Contract, loadContract } from '../../src/engine/contract/load-contract.ts';
import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';

/**
 * The contract with default options. As long as it is in memory, `loadContract` does not compile it again, so a worker
 * that imports this module compiles it only once.
 */
export const contract: Contract = loadContract(CONTRACT_DEFAULTS);
