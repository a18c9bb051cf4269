import { createMemoryStore } from '../../../src/ledger/store/memory-store.ts';
import { ledgerStoreContract } from '../../contracts/ledger-store.contract.ts';

ledgerStoreContract('memory', createMemoryStore);
