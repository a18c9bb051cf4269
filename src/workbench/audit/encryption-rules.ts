import { isLoopbackHost } from '../../lib/network-address.ts';
import { isClearAndPublic } from '../../lib/network-address.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';

/** Rules about unencrypted connections and unverified certificates. */
export const ENCRYPTION_RULES: readonly AuditRule[] = [
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
    id: 'admin-in-the-clear',
    severity: 'medium',
    key: '/listen/adminHost',
    risk: 'The admin side has no TLS, so anyone on the network can read the admin token and everything in the console.',
    fix: 'Listen on 127.0.0.1 and use an SSH tunnel, or allow access only from a private network or a TLS proxy.',
    find: ({ settings: { listen } }) => foundIf(!isLoopbackHost(listen.adminHost), `listens on ${listen.adminHost}`),
  },
  {
    id: 'certificates-not-verified',
    severity: 'critical',
    key: '/upstream/url',
    risk: 'NODE_TLS_REJECT_UNAUTHORIZED=0 allows anyone between Portico and the upstream to impersonate the upstream and collect passwords.',
    fix: 'Remove the variable, and add your own certificate authority with NODE_EXTRA_CA_CERTS.',
    find: ({ env }) => foundIf(env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0', 'NODE_TLS_REJECT_UNAUTHORIZED=0'),
  },
];
