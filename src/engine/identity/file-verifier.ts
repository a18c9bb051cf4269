import { randomBytes } from 'node:crypto';
import type { BasicCredential } from '../../lib/basic-credentials.ts';
import { nameKeyFor, type NameRule } from '../model/caller-name.ts';
import { StartFault, type Fault } from '../model/fault.ts';
import { BASIC_SCHEME } from './basic-scheme.ts';
import { parsePhcHash, type PhcHash, STANDARD_COSTS, verifyPassword } from './password-hash.ts';
import type { FileAccount, Verifier, VerifierKind, WorkBounds } from './verifier.ts';
import { createWorkGate } from './work-gate.ts';

/** The retry delay, in seconds, suggested to clients when too many passwords are waiting to be hashed. */
const BUSY_RETRY_SECONDS = 1;

/** Verifies the passwords of the accounts in the roles file. */
export const fileVerifier: VerifierKind = {
  scheme: BASIC_SCHEME,
  asksUpstream: false,
  readsPasswords: true,
  uses: ['hashing'],
  open: ({ roles: { accounts, source }, options, names }) =>
    createFileVerifier(accounts, options.hashing, source, names),
  openTrusting({ roles, names }) {
    const nameKey = nameKeyFor(names);
    const known = new Set(
      roles.accounts.flatMap(({ name, passwordHash }) => (passwordHash === undefined ? [] : [nameKey(name)])),
    );
    return verifierWith(({ name }) => Promise.resolve({ kind: known.has(nameKey(name)) ? 'valid' : 'invalid' }));
  },
};

const verifierWith = (verify: Verifier<BasicCredential>['verify']): Verifier<BasicCredential> => ({
  scheme: BASIC_SCHEME,
  asksUpstream: false,
  verify,
  calibrate: () => Promise.resolve({ kind: 'calibrated' }),
});

/**
 * Creates a verifier that checks passwords against the accounts' argon2id hashes. `names` is the rule for comparing names
 * with those of the accounts. Throws `StartFault` if a hash cannot be parsed.
 */
export function createFileVerifier(
  accounts: readonly FileAccount[],
  bounds: WorkBounds,
  source: string,
  names: NameRule,
): Verifier<BasicCredential> {
  const nameKey = nameKeyFor(names);
  const hashes = readHashes(accounts, source, nameKey);
  const decoy = createDecoy(hashes);
  const gate = createWorkGate(bounds);
  return verifierWith(async ({ name, password, latin1Password }, known, network) => {
    const hash = hashes.get(nameKey(name));
    // For an unknown name, a decoy hash that never matches is checked. Otherwise, the response would arrive sooner than
    // for a wrong password, which would reveal which names exist.
    const passwords = [password, ...(latin1Password === undefined ? [] : [latin1Password])];
    const matches = async () => {
      for (const one of passwords) if (await verifyPassword(one, hash ?? decoy)) return true;
      return false;
    };
    const valid = await gate.run(matches, known, network);
    if (valid === undefined) return { kind: 'busy', retryAfterSeconds: BUSY_RETRY_SECONDS };
    return { kind: valid ? 'valid' : 'invalid' };
  });
}

function readHashes(
  accounts: readonly FileAccount[],
  source: string,
  nameKey: (name: string) => string,
): Map<string, PhcHash> {
  const hashes = new Map<string, PhcHash>();
  const faults: Fault[] = [];
  accounts.forEach(({ name, passwordHash }, index) => {
    if (passwordHash === undefined) return;
    const hash = parsePhcHash(passwordHash);
    if (hash) hashes.set(nameKey(name), hash);
    else {
      const message = `the password hash of ${name} is not an argon2id hash within bounds`;
      const suggestion = 'create one with: portico hash-password';
      faults.push({ source, pointer: `/accounts/${index}/passwordHash`, message, suggestion });
    }
  });
  if (faults.length === 0 && hashes.size === 0)
    faults.push({ source, pointer: '/accounts', message: 'no account has a password hash, so no user can log in' });
  if (faults.length > 0) throw new StartFault(faults);
  return hashes;
}

/** Creates a hash that matches no password and takes as long to check as the slowest of the accounts' hashes. */
export function createDecoy(hashes: ReadonlyMap<string, PhcHash>): PhcHash {
  const [mostExpensive] = [...hashes.values()].sort((a, b) => cost(b) - cost(a));
  return { ...STANDARD_COSTS, ...mostExpensive, salt: randomBytes(16), tag: randomBytes(32) };
}

const cost = (hash: PhcHash) => hash.memory * hash.passes;
