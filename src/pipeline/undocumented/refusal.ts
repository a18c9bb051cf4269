import { GatewayError } from '../../errors/gateway-error.ts';
import type { Arrival } from '../../model/arrival.ts';
import { PASSTHROUGH_BASE } from './policy.ts';

/** Returns the error for a request that the policy refuses. `allow` contains the methods that the path supports. */
export function undocumentedRefusal(
  { method, path }: Pick<Arrival, 'method' | 'path'>,
  code: 'not_in_contract' | 'method_not_allowed',
  allow: readonly string[],
): GatewayError {
  const exceptions = path.startsWith(PASSTHROUGH_BASE);
  if (code === 'method_not_allowed') {
    const text = `${method.slice(0, 20)} is not allowed for this address; the allowed methods are ${allow.join(', ')}.`;
    const details = [
      { in: 'method', message: `use ${allow.join(' or ')}` },
      ...(exceptions ? [{ in: 'method', message: exceptionFor('other methods') }] : []),
    ];
    return new GatewayError(code, text, { details, headers: { Allow: allow.join(', ') } });
  }
  return new GatewayError(code, 'This address is not in the contract.', {
    details: [
      { in: 'path', message: 'paths must match exactly, including case, slashes and the suffix .json' },
      ...(exceptions ? [{ in: 'path', message: exceptionFor('other paths') }] : []),
    ],
  });
}

const exceptionFor = (what: string) => `${what} are forwarded only with an entry in undocumented.allow`;
