import { toOperationCacheOptions } from '../cache/cache-options.ts';
import { ANONYMOUS_ROLE } from '../permissions/roles-file.ts';
import { type AuditRule, type AuditSubject, foundIf } from './audit-rule.ts';

/** Rules about stored responses: who may see them, and how old they may be. */
export const CACHE_RULES: readonly AuditRule[] = [
  {
    id: 'one-caller-s-pages-for-all',
    severity: 'high',
    key: '/operations',
    harm: 'Pages fetched with one caller’s credential are served to others; a private item on them reaches everybody.',
    fix: 'Use audience: caller, or a service account (upstream.credentials).',
    find: (subject) =>
      sharedOperations(subject)
        .filter(() => subject.settings.upstream.credentials.kind === 'forward')
        .map(({ id, audience }) => `${id}: ${audience}`),
  },
  {
    id: 'private-fields-shared',
    severity: 'high',
    key: '/operations',
    harm: 'Stored comments contain private fields, and callers without the permission get them from the cache.',
    fix: 'Enforce permissions for these operations, or use audience: caller.',
    find: (subject) =>
      sharedOperations(subject)
        .filter(({ id, isPrivate }) => isPrivate && subject.settings.checksFor(id).permissions !== 'enforce')
        .map(({ id }) => id),
  },
  {
    id: 'shared-pages-not-compared',
    severity: 'medium',
    key: '/cache/sampleShared',
    harm: 'If shared pages differ between callers after all, nobody notices.',
    fix: 'Compare a small share of the hits; the default is 0.01.',
    find: (subject) => foundIf(sharedOperations(subject).length > 0 && subject.settings.cache.sampleShared === 0, '0'),
  },
  {
    id: 'broken-pages-stored',
    severity: 'low',
    key: '/cache/store',
    harm: 'A page that breaks the contract is repeated to every caller until it expires.',
    fix: 'Use accepted, which is the default.',
    find: ({ settings: { cache } }) => foundIf(cache.store === 'wellFormed', cache.store),
  },
  {
    id: 'stale-for-long',
    severity: 'low',
    key: '/cache/staleIfErrorSeconds',
    harm: 'During an outage, clients get pages of this age, with content that may have been deleted since.',
    fix: 'Use a day or less for staleIfErrorSeconds, and an hour or less for freshSeconds.',
    find: ({ settings: { cache } }) => [
      ...foundIf(cache.freshSeconds > 3600, `freshSeconds: ${cache.freshSeconds}`),
      ...foundIf(cache.staleIfErrorSeconds > 86_400, `staleIfErrorSeconds: ${cache.staleIfErrorSeconds}`),
    ],
  },
  {
    id: 'anyone-bypasses-the-cache',
    severity: 'medium',
    key: '/cache/noCacheRoles',
    harm: 'Callers without a credential can send every request to the upstream and overload it.',
    fix: `Remove the role ${ANONYMOUS_ROLE}.`,
    find: ({ settings: { cache } }) => cache.noCacheRoles.filter((role) => role === ANONYMOUS_ROLE),
  },
];

/** Returns the operations whose stored responses are shared by several callers. */
function sharedOperations({ settings, operations }: AuditSubject) {
  return operations.flatMap(({ id, cacheability, carriesPrivateFields: isPrivate }) => {
    if (cacheability === undefined || settings.mode.transparent) return [];
    const on = { byDefault: cacheability.byDefault, on: settings.mode.cache };
    const { enabled, audience } = toOperationCacheOptions(settings.cache, on, settings.operations[id]?.cache);
    return enabled && audience !== 'caller' ? [{ id, audience, isPrivate }] : [];
  });
}
