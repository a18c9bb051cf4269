import { dirname, join } from 'node:path';
import type { Feature, LevelSource } from '../../engine/feature.ts';
import { listed } from '../../lib/listed.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { decideInForce } from './in-force.ts';
import { isOfLadder, isOverride, subjectOf } from './level-entry.ts';
import { LEVELS_METRICS, registerMetrics } from './levels-metrics.ts';
import { levelsPage } from './levels-page.ts';
import { levelsRoutes } from './levels-routes.ts';
import { createLevels } from './open-levels.ts';
import { setupOf } from './levels-setup.ts';
import { options } from './options.ts';
import { NO_LEVELS } from './level-store.ts';
import { readStoredLevels, type StoredLevels } from './stored-levels.ts';

/** Changes levels while the gateway runs: the ladder by what traffic shows, and operators (docs/levels.md). */
export const levels = {
  name: 'levels',
  options,
  needsRestart: ['file'],
  files: { file: 'state' },
  formerKeys: [
    { from: ['ladder.file', 'overrides.file'], to: 'file', convert: formerFolder },
    { from: ['ladder.promote'], to: 'promote' },
    { from: ['ladder.demote'], to: 'demote' },
    { from: ['overrides.maxHours'], to: 'overrides.maxHours' },
  ],
  commands: [
    { name: 'override', load: async (tools) => (await import('./override-command.ts')).overrideCommand(tools) },
    { name: 'ladder', load: async (tools) => (await import('./ladder-command.ts')).ladderCommand(tools) },
  ],
  metrics: LEVELS_METRICS,
  // A walk neither changes the running gateway's files nor is affected by the levels in them.
  forWalk: (given) => ({ ...given, file: IN_MEMORY }),
  warn({ promote, demote }, { settings, operations }) {
    const { transparent } = settings.mode;
    const enforces = operations.some(({ id }) => settings.checksFor(id).responses === 'enforce');
    const mayEnforce = promote.enabled && !transparent && promote.checks.includes('responses');
    return [
      ...when(transparent && promote.enabled, 'observe mode promotes no checks', 'promote/enabled', 'promote/checks'),
      ...when(!transparent && !promote.enabled, 'levels.promote.enabled is false', 'promote/checks'),
      ...when(
        demote.enabled && !enforces && !mayEnforce,
        'the check responses is not enforced for any operation',
        'demote/enabled',
      ),
    ];
  },
  auditRules: [
    {
      id: 'changes-in-memory',
      severity: 'low',
      key: '/levels/file',
      realOnly: true,
      risk: 'A restart loses demotions and overrides, so responses may be refused again.',
      fix: 'Set levels.file to a path on a persistent volume.',
      find: ({ file }) => (file === IN_MEMORY ? ['levels.file'] : []),
    },
    {
      id: 'levels-lowered',
      severity: 'medium',
      key: '/levels/demote',
      risk: 'The ladder has lowered checks that the configuration enforces, so violations are no longer refused.',
      fix: 'Look at the violations (portico report), fix or accept them, and undo the demotion with portico ladder.',
      find: (_options, _settings, { prepared, contract }) =>
        entriesOf(prepared)
          .filter(isOfLadder)
          .filter((one) => one.contract === contract.version && one.move === 'demoted')
          .map(({ operation, check }) => `${check} of ${operation}`),
    },
    {
      id: 'overrides-active',
      severity: 'medium',
      key: '/levels/overrides',
      risk: 'Operators have changed these operations temporarily, so Portico does not behave as configured.',
      fix: 'End the overrides that are no longer needed with portico override end.',
      find: (_options, _settings, { prepared, now }) =>
        listed(
          entriesOf(prepared)
            .filter(isOverride)
            .filter(({ until }) => until > now)
            .map((override) => `${subjectOf(override)} of ${override.operation}`),
        ),
    },
  ],
  // The running gateway has newer levels than the file.
  prepare: ({ options: given, settings, earlier }) => ({
    value: earlier ?? readStoredLevels({ options: given, settings }),
  }),
  dependsOn: ({ mode, checks, errors, operations }) => [mode, checks, errors, operations],
  start(context) {
    const { options: given, settings, contract, prepared, lasting, metrics, planOf } = context;
    const setup = setupOf(given, settings, contract);
    const ids = contract.operations.map(({ id }) => id);
    const counted = registerMetrics(metrics, ids, {
      demoted: () =>
        open.ladder
          .levels()
          .flatMap(({ operation, configured, effective }) =>
            configured.responses === 'enforce' && effective.responses === 'report' ? [operation] : [],
          ),
      overrides: () => open.overrides.active(),
    });
    const open = lasting(
      () => createLevels(context, prepared, setup, counted),
      (one) => one.close(),
    );
    const routes = { ...context, levels: open, windowHours: given.promote.windowHours };
    const configuredOf = new Map(setup.operations.map((one) => [one.operation, one]));
    return {
      // `open` belongs to all runs, but what is in force follows from this run's configuration.
      levels: {
        ...open,
        of({ operation: { id }, checks, cache, transparent }: Parameters<LevelSource['of']>[0]) {
          const configured = configuredOf.get(id) ?? { checks, explicit: [] };
          return decideInForce({
            operation: id,
            configured,
            facts: { isStored: cache !== undefined, transparent },
            decisions: open.store.decisions(id),
            overrides: open.overrides.active(id),
          });
        },
      },
      open: open.open,
      use: () =>
        open.use(setup, {
          operations: ids,
          factsOf(operation) {
            const plan = planOf(operation);
            return plan && { isStored: plan.cache !== undefined, transparent: plan.transparent };
          },
          maxHours: given.overrides.maxHours,
        }),
      finished: open.ladder.record,
      pages: [levelsPage(routes)],
      adminRoutes: levelsRoutes(routes),
    };
  },
} as const satisfies Feature<typeof options, StoredLevels>;

/** Returns the reason why these options have no effect, if the condition is true. */
const when = (condition: boolean, because: string, ...keys: readonly string[]) =>
  condition ? keys.map((key) => ({ pointer: `/levels/${key}`, because })) : [];

const entriesOf = (stored: StoredLevels | undefined) => (stored?.state ?? NO_LEVELS).entries;

/**
 * Returns the file that replaces those of the ladder and of the overrides: in the folder of the one that is configured,
 * or in memory if both were.
 */
function formerFolder(files: readonly unknown[]): unknown {
  const given = files.filter((file) => file !== undefined);
  const path = given.find((file) => file !== IN_MEMORY);
  if (typeof path === 'string') return join(dirname(path), 'levels.json');
  if (path !== undefined) return path;
  return given.length === files.length ? IN_MEMORY : undefined;
}
