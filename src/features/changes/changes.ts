import type { Feature } from '../../engine/feature.ts';
import type { Settings } from '../../engine/config/settings.ts';
import { verifierOf } from '../../engine/identity/verifiers.ts';
import type { RolesFile } from '../../engine/permissions/roles-file.ts';
import { closestName } from '../../lib/closest-name.ts';
import { StartFault } from '../../engine/model/fault.ts';
import { CHANGES_METRICS, registerCounters, registerGauges } from './changes-metrics.ts';
import { ACTIONS, changesPage, changesRouter } from './changes-page.ts';
import { type FeedStore, FeedStoreError } from './feed-store.ts';
import { OWN_KINDS } from './event.ts';
import { followedLists, kindsIn, whyNotFollowed } from './followed-list.ts';
import { options } from './options.ts';
import { readSecrets } from './read-secrets.ts';
import { readNetwork } from '../../lib/network-list.ts';
import { openRedisStore } from './redis-store.ts';
import { createFeed, type ReadSecrets } from './run-feed.ts';
import { FEED_UNAVAILABLE, HISTORY_GONE, TOO_MANY_STREAMS } from './serve-events.ts';
import { openSqliteStore } from './sqlite-store.ts';

/**
 * Reads lists on behalf of everyone who would otherwise poll them, and passes on what has changed as events: to event
 * streams, webhooks and Atom feeds (docs/changes.md).
 */
export const changes = {
  name: 'changes',
  options,
  needsRestart: ['folder', 'maxEvents', 'retentionHours'],
  errors: [HISTORY_GONE, TOO_MANY_STREAMS, FEED_UNAVAILABLE],
  metrics: CHANGES_METRICS,
  files: { folder: 'state', passwordFile: 'secret', secrets: 'document' },
  forWalk: (given) => ({ ...given, folder: ':memory:', lists: [], webhooks: [] }),
  check(given) {
    const { username, passwordFile, lists, webhooks, allowPrivate } = given;
    const names = webhooks.map(({ name }) => name);
    const needsAccount = lists === undefined || lists.length > 0;
    return [
      ...(needsAccount && username === undefined ? [missing('/changes/username')] : []),
      ...(needsAccount && passwordFile === undefined ? [missing('/changes/passwordFile')] : []),
      ...(username?.includes(':') === true
        ? [{ pointer: '/changes/username', message: 'must not contain a colon' }]
        : []),
      ...names.flatMap((name, index) =>
        names.indexOf(name) < index
          ? [{ pointer: `/changes/webhooks/${index}/name`, message: 'is the name of an earlier webhook' }]
          : [],
      ),
      ...allowPrivate.flatMap((network, index) =>
        readNetwork(network) === undefined
          ? [
              {
                pointer: `/changes/allowPrivate/${index}`,
                message: 'is not an address or a network',
                suggestion: 'write it like 10.20.0.0/16',
              },
            ]
          : [],
      ),
    ];
  },
  checkContract({ lists = [], webhooks }, { operations }) {
    const known = [...kindsIn(operations), ...OWN_KINDS];
    const unknownKinds = webhooks.flatMap(({ kinds }, at) =>
      kinds.flatMap((kind, index) => {
        if (known.includes(kind)) return [];
        const near = closestName(kind, known);
        const fault = { pointer: `/changes/webhooks/${at}/kinds/${index}`, message: 'is not a kind of event' };
        return near === undefined ? [fault] : [{ ...fault, suggestion: `did you mean ${near}?` }];
      }),
    );
    const wrongLists = lists.flatMap((id, index) => {
      const pointer = `/changes/lists/${index}`;
      const operation = operations.find((one) => one.id === id);
      if (operation !== undefined) {
        const reason = whyNotFollowed(operation);
        return reason === undefined ? [] : [{ pointer, message: `${id} ${reason}` }];
      }
      const name = id.slice(0, 100);
      const near = closestName(
        name,
        operations.map((one) => one.id),
      );
      const message = `${name} is not an operation in the contract`;
      return near === undefined ? [{ pointer, message }] : [{ pointer, message, suggestion: `did you mean ${near}?` }];
    });
    return [...wrongLists, ...unknownKinds];
  },
  warn({ webhooks }, { settings, roles }) {
    return [
      ...(settings.mode.transparent
        ? [
            {
              pointer: '/changes',
              message: 'serves no event streams and Atom feeds in observe mode, which changes nothing for clients',
            },
          ]
        : []),
      ...(leavesToUpstream(settings, roles)
        ? [
            {
              pointer: '/changes',
              message:
                'has no events for callers who are not in the roles file, because only the upstream knows what they may read',
              suggestion: 'set roles.unmapped to the role whose events they may receive',
            },
          ]
        : []),
      ...webhooks.flatMap((webhook, index) => withoutItems(webhook, `/changes/webhooks/${index}`, roles)),
    ];
  },
  auditRules: [
    {
      id: 'events-in-memory',
      severity: 'medium',
      key: '/changes/folder',
      realOnly: true,
      risk: 'A restart loses all events and what was read, so subscribers miss what changes in the meantime.',
      fix: 'Set changes.folder to a path on a persistent volume.',
      find: ({ folder }, { redis }) => (folder === ':memory:' && redis.url === undefined ? [folder] : []),
    },
  ],
  prepare: readSecrets,
  dependsOn: ({ mode, publicBasePath, upstream, checksFor }) => [
    mode.name,
    publicBasePath,
    upstream.maxJsonDepth,
    upstream.maxJsonValues,
    checksFor(undefined),
  ],
  start(context) {
    const { options: given, settings, sharing, operations, prepared, metrics, clock, lasting } = context;
    const limits = { maxEvents: given.maxEvents, retentionMs: given.retentionHours * 3_600_000 };
    const store = lasting(
      () =>
        sharing.redis === undefined
          ? fileStore(given.folder, limits, settings.placeOf)
          : openRedisStore(sharing.redis, sharing.seal, limits),
      async (one) => Promise.resolve(one.close()),
    );
    const lists = followedLists(operations, given.lists);
    const counters = registerCounters(
      metrics,
      lists,
      given.webhooks.map(({ name }) => name),
    );
    const feed = createFeed(context, store, counters);
    registerGauges(metrics, feed, clock);
    return {
      open: feed.open,
      use: feed.start,
      close: feed.close,
      // In observe mode, the same path may mean something to the upstream.
      ...(!settings.mode.transparent &&
        prepared.authorization !== undefined && { middleware: [feed.middleware], methodsAt: feed.methodsAt }),
      pages: [changesPage(feed)],
      adminRoutes: [{ path: '/changes', access: 'operator', handler: changesRouter(feed), actions: ACTIONS }],
    };
  },
} as const satisfies Feature<typeof options, ReadSecrets>;

/** Warns about a webhook that receives no items, although it names an account or kinds of items. */
function withoutItems(
  { account, kinds }: { readonly account?: string; readonly kinds: readonly string[] },
  pointer: string,
  roles: RolesFile,
) {
  if (account === undefined) {
    if (kinds.every((kind) => OWN_KINDS.includes(kind))) return [];
    const message = 'names kinds of items, but a webhook without an account receives none';
    return [{ pointer: `${pointer}/kinds`, message, suggestion: 'set account' }];
  }
  if (roles.accounts.some(({ name }) => name === account)) return [];
  const message = `${account.slice(0, 100)} is not an account in the roles file, so the webhook receives no items`;
  return [{ pointer: `${pointer}/account`, message }];
}

/** Returns whether callers are verified whose permissions only the upstream knows. */
const leavesToUpstream = (settings: Settings, roles: RolesFile) =>
  verifierOf(settings.authentication).asksUpstream &&
  (settings.roles.unmapped ?? roles.unmapped ?? 'delegate') === 'delegate';

const missing = (pointer: string) => ({
  pointer,
  message: 'is required: lists are read with an account of their own',
  suggestion: 'set username and passwordFile, or lists: [] for webhooks about violations only',
});

function fileStore(
  folder: string,
  limits: Parameters<typeof openSqliteStore>[1],
  placeOf: (pointer: string) => { readonly source: string; readonly pointer: string },
): FeedStore {
  try {
    return openSqliteStore(folder, limits);
  } catch (error) {
    if (!(error instanceof FeedStoreError)) throw error;
    const suggestion = 'set changes.folder to a writable folder, or :memory:';
    throw new StartFault([{ ...placeOf('/changes/folder'), message: error.message, suggestion }]);
  }
}
