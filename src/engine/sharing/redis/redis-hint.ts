import { causeOfCode } from '../../model/failure-cause.ts';
import { failureHint } from '../../model/failure-hints.ts';

const SCHEMES = { plain: 'redis://', secure: 'rediss://' };

/** The most likely explanation for each kind of error with which Redis refuses a client or a command. */
const HINTS: Readonly<Record<string, string>> = {
  'connection failed': 'the connection is closed; check whether the URL leads to a Redis server',
  NOAUTH: 'the server requires a password; set redis.password or redis.passwordFile',
  WRONGPASS: 'the server refuses the user or the password; check redis.url and redis.password',
  NOPERM: 'the user may not use the keys or the commands that Portico needs; change the rules of the user',
  READONLY: 'the server is a replica; use the address of the primary',
  LOADING: 'the server is still loading its data; try again later',
  MASTERDOWN: 'the server is a replica without a primary; check the servers',
  CLUSTERDOWN: 'the cluster is not complete; check the servers',
  OOM: 'the server has no memory left; increase maxmemory',
  MISCONF: 'the server cannot store its data; check its disk',
  WRONGTYPE: 'another program uses the same keys; choose another redis.prefix',
  BUSY: 'the server is running a script for too long; try again later',
};

/** Describes in words why Redis is unavailable, followed by the code of the error. `reason` is a code or already words. */
export function redisHint(reason: string): string {
  const hint = Object.hasOwn(HINTS, reason) ? HINTS[reason] : undefined;
  if (hint !== undefined) return reason === 'connection failed' ? hint : `${hint} (${reason})`;
  if (!/^[A-Z][A-Z_]+$/.test(reason)) return reason;
  const cause = reason === 'ECONNRESET' ? 'connection_terminated' : causeOfCode(reason);
  if (cause === undefined) return `the server responds with the error ${reason}`;
  if (cause === 'tls_certificate_error')
    return `the certificate is not trusted; set redis.tls.caFile to the authority that issued it, or correct the host name (${reason})`;
  return failureHint({ cause, code: reason }, SCHEMES);
}
