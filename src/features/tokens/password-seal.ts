import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Seals passwords that are stored with tokens. */
export interface PasswordSeal {
  /** Seals a password for the token with this id. */
  seal(id: string, password: string): string;
  /**
   * Returns the password, or undefined if it was sealed with another key or for another token, or was changed.
   * `isCurrent` is false if it should be sealed again, with the new key.
   */
  open(id: string, sealed: string): { readonly password: string; readonly isCurrent: boolean } | undefined;
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

// A key may have any length from 32 characters. A digest has the length that the cipher needs.
const keyOf = (text: string) => createHash('sha256').update(`portico passwords\n${text}`).digest();

/**
 * Creates the seal. The first key seals; the others open what they have sealed before the key was replaced. The id of the
 * token is authenticated together with the password, so a sealed password is of no use in another token's record.
 */
export function createPasswordSeal([current, ...previous]: readonly string[]): PasswordSeal | undefined {
  if (current === undefined) return undefined;
  const keys = [current, ...previous].map(keyOf);
  const [first] = keys;
  return {
    seal(id, password) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, first ?? keyOf(current), nonce);
      cipher.setAAD(Buffer.from(id));
      const text = Buffer.concat([cipher.update(password, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64');
    },
    open(id, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      for (const [index, key] of keys.entries()) {
        const password = opened(key, id, bytes);
        if (password !== undefined) return { password, isCurrent: index === 0 };
      }
      return undefined;
    },
  };
}

function opened(key: Buffer, id: string, bytes: Buffer): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(id));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    // The tag does not fit: another key, another token, or changed bytes.
    return undefined;
  }
}
