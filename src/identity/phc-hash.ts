/** An argon2id hash taken apart; `memory` is in KiB. */
export interface PhcHash {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Reads `$argon2id$v=19$m=…,t=…,p=…$salt$hash`; undefined for anything else and for costs beyond 1 GiB or 20 passes. */
export function parsePhcHash(text: string): PhcHash | undefined {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(text) ?? [];
  const hash = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
  // RFC 9106, 3.1: at least 8 KiB per lane, a salt of at least 8 bytes.
  const bounded =
    hash.parallelism >= 1 &&
    hash.parallelism <= 16 &&
    hash.passes >= 1 &&
    hash.passes <= 20 &&
    hash.memory >= 8 * hash.parallelism &&
    hash.memory <= 1_048_576;
  return bounded && hash.salt.length >= 8 && hash.tag.length >= 16 ? hash : undefined;
}

/** Writes a hash as the PHC text that the roles file holds. */
export function formatPhcHash(hash: PhcHash): string {
  const costs = `m=${hash.memory},t=${hash.passes},p=${hash.parallelism}`;
  return `$argon2id$v=19$${costs}$${base64(hash.salt)}$${base64(hash.tag)}`;
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
