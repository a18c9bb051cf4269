import { toOperationCacheOptions } from '../../engine/cache/cache-options.ts';
import { type AuditRule, type AuditSubject, foundIf } from './audit-rule.ts';

/** Rules about stored responses: who may see them, and how old they may be. */
export const CACHE_RULES: readonly AuditRule[] = [
  {
    id: 'personal-pages-shared',
    severity: 'high',
    key: '/operations',
    risk: 'Pages fetched with one caller’s credential are served to other callers, so any private item on them leaks.',
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
    risk: 'Stored comments contain private fields, which callers without the permission get from the cache.',
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
    risk: 'If the pages do differ between callers, this remains undetected.',
    fix: 'Compare a small share of the hits, such as the default of 0.01.',
    find: (subject) => foundIf(sharedOperations(subject).length > 0 && subject.settings.cache.sampleShared === 0, '0'),
  },
  {
    id: 'broken-pages-stored',
    severity: 'low',
    key: '/cache/store',
    risk: 'A page that breaks the contract is served again and again until it expires.',
    fix: 'Use the default, accepted.',
    find: ({ settings: { cache } }) => foundIf(cache.store === 'wellFormed', cache.store),
  },
  {
    id: 'stale-for-long',
    severity: 'low',
    key: '/cache/staleIfErrorSeconds',
    risk: 'Clients can get pages this old, including content that has since been deleted.',
    fix: 'Use a day or less for staleIfErrorSeconds, and an hour or less for freshSeconds.',
    find: ({ settings: { cache } }) => [
      ...foundIf(cache.freshSeconds > 3600, `freshSeconds: ${cache.freshSeconds}`),
      ...foundIf(cache.staleIfErrorSeconds > 86_400, `staleIfErrorSeconds: ${cache.staleIfErrorSeconds}`),
    ],
  },
];

/** Returns the operations for which several callers share stored responses. */
function sharedOperations({ settings, operations }: AuditSubject) {
  return operations.flatMap(({ id, cacheability, privateFields }) => {
    if (cacheability === undefined || settings.mode.transparent) return [];
    const on = { byDefault: cacheability.byDefault, on: settings.mode.cache };
    const { enabled, audience } = toOperationCacheOptions(settings.cache, on, settings.operations[id]?.cache);
    return enabled && audience !== 'caller' ? [{ id, audience, isPrivate: privateFields !== undefined }] : [];
  });
}
