import { isLoopbackHost, isPrivateHost } from '../lib/network-address.ts';
import { exportsSpans, samplingOf } from '../telemetry/tracing-options.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';

/** The shortest prefixes of networks that can plausibly contain only proxies. */
const MIN_PREFIX = { ipv4: 8, ipv6: 7 };

/** Rules about addresses, proxies and encryption. */
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
    id: 'passwords-in-the-clear',
    severity: 'high',
    key: '/listen/host',
    realOnly: true,
    risk: 'Nothing indicates that TLS protects the public side. Without TLS, anyone on the network can read passwords.',
    fix: 'Set listen.tls, or terminate TLS in a proxy (listen.trustedProxies, publicOrigin: https://…).',
    find: ({ settings: { listen, publicOrigin } }) => {
      const isProxied = listen.trustedProxies.length > 0 || publicOrigin?.startsWith('https:') === true;
      const isOpen = !isLoopbackHost(listen.host) && !isProxied && listen.tls === undefined;
      return foundIf(isOpen, `listens on ${listen.host} without TLS and without a proxy`);
    },
  },
  {
    id: 'public-origin-in-the-clear',
    severity: 'medium',
    key: '/publicOrigin',
    risk: 'Rewritten addresses lead clients to http, where anyone on the network can read their passwords.',
    fix: 'Set it to the https address that clients use.',
    find: ({ settings: { publicOrigin } }) =>
      publicOrigin !== undefined && isClearAndPublic(publicOrigin) ? [publicOrigin] : [],
  },
  {
    id: 'upstream-in-the-clear',
    severity: 'high',
    key: '/upstream/url',
    realOnly: true,
    risk: 'Credentials cross a public network unencrypted, where they can be read and responses can be changed.',
    fix: 'Use https, or an address inside a private network.',
    find: ({ settings: { upstream } }) =>
      upstream.url !== undefined && isClearAndPublic(upstream.url) ? [new URL(upstream.url).origin] : [],
  },
  {
    id: 'spans-in-the-clear',
    severity: 'medium',
    key: '/tracing/endpoint',
    risk: 'Spans and the headers for the OTLP receiver, such as an API key, cross a public network unencrypted.',
    fix: 'Use https, or a receiver inside a private network.',
    find: ({ settings: { tracing } }) =>
      !tracing.disabled && tracing.endpoint !== undefined && isClearAndPublic(tracing.endpoint)
        ? [new URL(tracing.endpoint).origin]
        : [],
  },
  {
    id: 'clients-choose-sampling',
    severity: 'low',
    key: '/tracing/followSampled',
    risk: 'Any client can have all its requests exported, which costs storage, or none of them, which hides them.',
    fix: 'Set it to trustedProxies, and list the proxies that start traces in listen.trustedProxies.',
    find: ({ settings: { tracing } }) =>
      foundIf(exportsSpans(tracing) && samplingOf(tracing).follow === 'everyone', 'everyone'),
  },
  {
    id: 'admin-in-the-clear',
    severity: 'medium',
    key: '/listen/adminHost',
    risk: 'The admin side has no TLS, so anyone on the network can read the admin token and everything in the console.',
    fix: 'Listen on 127.0.0.1 and use an SSH tunnel, or allow access only from a private network or a TLS proxy.',
    find: ({ settings: { listen } }) => foundIf(!isLoopbackHost(listen.adminHost), `listens on ${listen.adminHost}`),
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
    id: 'cors-for-everyone',
    severity: 'medium',
    key: '/cors/origins',
    risk: 'Every website can read the API through a visitor’s browser, from inside the visitor’s network.',
    fix: 'List the origins of the pages that use the API.',
    find: ({ settings }) => (settings.cors?.origins ?? []).filter((origin) => origin === '*'),
  },
  {
    id: 'cors-in-the-clear',
    severity: 'medium',
    key: '/cors/origins',
    risk: 'These pages are loaded without encryption, so anyone on the network can add scripts that use the API.',
    fix: 'List only https origins.',
    find: ({ settings }) => (settings.cors?.origins ?? []).filter(isClearAndPublic),
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

const isClearAndPublic = (url: string): boolean =>
  URL.canParse(url) && new URL(url).protocol === 'http:' && !isPrivateHost(new URL(url).hostname);
