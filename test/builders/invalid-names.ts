import dns from 'node:dns';
import { cleanUpAfterFile } from './clean-up.ts';

const systemLookup = dns.lookup;
const resolved = new Set<string>();

type Lookup = (name: string, ...rest: unknown[]) => void;

/**
 * Makes lookups of host names that end in `.invalid` fail immediately until the file's tests have finished. Otherwise,
 * a slow or unreachable name server would determine how and when the lookups fail. The names in the returned set
 * resolve to 127.0.0.1.
 */
export function failInvalidNames(): Set<string> {
  if (dns.lookup !== systemLookup) return resolved;
  const lookup: Lookup = (name, ...rest) => {
    if (!name.endsWith('.invalid') || resolved.has(name)) {
      (systemLookup as Lookup)(resolved.has(name) ? '127.0.0.1' : name, ...rest);
      return;
    }
    const done = rest.at(-1) as (error: Error) => void;
    const facts = { code: 'ENOTFOUND', errno: -3008, syscall: 'getaddrinfo', hostname: name };
    process.nextTick(done, Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), facts));
  };
  Object.assign(dns, { lookup });
  cleanUpAfterFile(() => {
    Object.assign(dns, { lookup: systemLookup });
    resolved.clear();
  });
  return resolved;
}
