import type { UpstreamPasswords } from '../../engine/identity/upstream-passwords.ts';
import type { TokenManager, Unchanged } from './manage-tokens.ts';
import type { TokenRecord } from './token-record.ts';

/** Stores the passwords of callers with their tokens. */
export interface Enrollment {
  /**
   * Stores a password, once the upstream has accepted it. Returns `wrong` if the upstream refuses it. Rejects with a
   * `GatewayError` if the upstream cannot tell, and after too many attempts from the client's address.
   */
  enroll(id: string, password: string, clientAddress: string): Promise<TokenRecord | Unchanged | 'wrong'>;
  /** Deletes the password of a token. */
  remove(id: string): TokenRecord | Unchanged;
}

/** Why a password was not stored. */
export const WRONG_PASSWORD = 'The upstream does not accept this password for the account of the token.';

/** Creates what stores passwords. Returns undefined if there is no key for them. */
export function createEnrollment(
  { valid, setPassword }: Pick<TokenManager, 'valid' | 'setPassword'>,
  passwords: UpstreamPasswords,
): Enrollment | undefined {
  if (setPassword === undefined) return undefined;
  return {
    async enroll(id, password, clientAddress) {
      const record = valid(id);
      if (typeof record === 'string') return record;
      if (!(await passwords.accepts(record.caller, password, clientAddress))) return 'wrong';
      // In the meantime, the token may have ended.
      return setPassword(id, password);
    },
    remove: (id) => setPassword(id, undefined),
  };
}
