import { isLoopbackHost } from '../../lib/network-address.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';

/** The shortest prefixes of networks that could plausibly contain only proxies. */
const MIN_PREFIX = { ipv4: 8, ipv6: 7 };

/** Rules about headers sent by clients and proxies, and about the sites that may use the API. */
export const NETWORK_RULES: readonly AuditRule[] = [
  {
    id: 'everyone-is-a-proxy',
    severity: 'high',
    key: '/listen/trustedProxies',
    risk: 'Any client can claim any address, which defeats the limits on failed logins and makes the logs unreliable.',
    fix: 'List the addresses of the proxies, or the networks in which only proxies run.',
    find: ({ settings }) => settings.listen.trustedProxies.filter(isEverybody),
  },
  {
    id: 'rewriting-without-origin',
    severity: 'medium',
    key: '/rewriteUrls',
    risk: 'Rewritten addresses contain the client’s Host header, so a forged header can lead other clients to another site.',
    fix: 'Set publicOrigin.',
    find: ({ settings }) => foundIf(settings.rewriteUrls && settings.publicOrigin === undefined, 'no publicOrigin'),
  },
  {
    id: 'contract-status-exposed',
    severity: 'info',
    key: '/contractStatusHeader',
    realOnly: true,
    risk: 'Contract-Status shows every client whether and where responses differ from the contract.',
    fix: 'Set contractStatusHeader: false if clients do not need it.',
    find: ({ settings: { contractStatusHeader, listen } }) =>
      foundIf(contractStatusHeader && !isLoopbackHost(listen.host), 'true'),
  },
];

function isEverybody(network: string): boolean {
  const [address = '', prefix] = network.split('/');
  if (prefix === undefined) return false;
  return Number(prefix) < (address.includes(':') ? MIN_PREFIX.ipv6 : MIN_PREFIX.ipv4);
}
