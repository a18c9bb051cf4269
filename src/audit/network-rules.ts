import { isLoopbackHost, isPrivateHost } from '../lib/network-address.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';

/** The smallest prefix lengths of a network that can plausibly contain only proxies. */
const MIN_PREFIX = { ipv4: 8, ipv6: 7 };

/** Rules about addresses, proxies and encryption. */
export const NETWORK_RULES: readonly AuditRule[] = [
  {
    id: 'everyone-is-a-proxy',
    severity: 'high',
    key: '/listen/trustedProxies',
    harm: 'Clients choose the address under which they appear, so limits on failed logins and logs mean nothing.',
    fix: 'List the addresses of the proxies, or the networks in which only proxies run.',
    find: ({ settings }) => settings.listen.trustedProxies.filter(isEverybody),
  },
  {
    id: 'passwords-in-the-clear',
    severity: 'high',
    key: '/listen/host',
    harm: 'Nothing suggests that TLS protects the public side; HTTP Basic then sends every password readable.',
    fix: 'Set listen.tls, or terminate TLS in a proxy (listen.trustedProxies, publicOrigin: https://…).',
    find: ({ settings: { embedded, listen, publicOrigin } }) => {
      const isProxied = listen.trustedProxies.length > 0 || publicOrigin?.startsWith('https:') === true;
      const isOpen = !embedded && !isLoopbackHost(listen.host) && !isProxied && listen.tls === undefined;
      return foundIf(isOpen, `listens on ${listen.host} without TLS and without a proxy`);
    },
  },
  {
    id: 'public-origin-in-the-clear',
    severity: 'medium',
    key: '/publicOrigin',
    harm: 'Rewritten addresses lead clients to http, where their passwords are readable.',
    fix: 'Set it to the https address that clients use.',
    find: ({ settings: { publicOrigin } }) =>
      publicOrigin !== undefined && isClearAndPublic(publicOrigin) ? [publicOrigin] : [],
  },
  {
    id: 'upstream-in-the-clear',
    severity: 'high',
    key: '/upstream/url',
    harm: 'Every credential crosses a network that is not private, readable and changeable on the way.',
    fix: 'Use https, or an address inside a private network.',
    find: ({ settings: { upstream, embedded } }) =>
      !embedded && upstream.url !== undefined && isClearAndPublic(upstream.url) ? [new URL(upstream.url).origin] : [],
  },
  {
    id: 'admin-in-the-clear',
    severity: 'medium',
    key: '/listen/adminHost',
    harm: 'The admin side has no TLS, so the admin token and everything on the console can be read on its network.',
    fix: 'Listen on 127.0.0.1 and use an SSH tunnel, or let only a private network or a TLS proxy reach it.',
    find: ({ settings: { listen } }) => foundIf(!isLoopbackHost(listen.adminHost), `listens on ${listen.adminHost}`),
  },
  {
    id: 'rewriting-without-origin',
    severity: 'medium',
    key: '/rewriteUrls',
    harm: 'Rewritten addresses contain the Host header of each client, so a forged header can lead others astray.',
    fix: 'Set publicOrigin.',
    find: ({ settings }) => foundIf(settings.rewriteUrls && settings.publicOrigin === undefined, 'no publicOrigin'),
  },
  {
    id: 'contract-status-exposed',
    severity: 'info',
    key: '/contractStatusHeader',
    harm: 'Contract-Status shows every client whether and where responses differ from the contract.',
    fix: 'Set contractStatusHeader: false if clients do not need it.',
    find: ({ settings: { embedded, contractStatusHeader, listen } }) =>
      foundIf(!embedded && contractStatusHeader && !isLoopbackHost(listen.host), 'true'),
  },
];

function isEverybody(network: string): boolean {
  const [address = '', prefix] = network.split('/');
  if (prefix === undefined) return false;
  return Number(prefix) < (address.includes(':') ? MIN_PREFIX.ipv6 : MIN_PREFIX.ipv4);
}

const isClearAndPublic = (url: string): boolean =>
  URL.canParse(url) && new URL(url).protocol === 'http:' && !isPrivateHost(new URL(url).hostname);
