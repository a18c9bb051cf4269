import { IN_MEMORY } from '../../lib/replace-file.ts';
import { changeId } from '../../features/levels/overrides/override.ts';
import { type AuditRule, foundIf, listed } from './audit-rule.ts';

/** Rules about changes made by the ladder and by operators while the gateway runs. */
export const CHANGE_RULES: readonly AuditRule[] = [
  {
    id: 'changes-in-memory',
    severity: 'low',
    key: '/ladder/file',
    realOnly: true,
    risk: 'A restart loses demotions and overrides, so responses may be refused again.',
    fix: 'Set ladder.file and overrides.file to paths on a persistent volume.',
    find: ({ settings: { ladder, overrides } }) => [
      ...foundIf(ladder.file === IN_MEMORY, 'ladder.file'),
      ...foundIf(overrides.file === IN_MEMORY, 'overrides.file'),
    ],
  },
  {
    id: 'levels-lowered',
    severity: 'medium',
    key: '/ladder/demote',
    risk: 'The ladder has lowered checks that the configuration enforces, so violations are no longer refused.',
    fix: 'Look at the violations (portico report), fix or accept them, and undo the demotion with portico ladder.',
    find: ({ ladder }) =>
      ladder.filter(({ move }) => move === 'demoted').map(({ operation, check }) => `${check} of ${operation}`),
  },
  {
    id: 'overrides-active',
    severity: 'medium',
    key: '/overrides/file',
    risk: 'Operators have changed these operations temporarily, so Portico does not behave as configured.',
    fix: 'End the overrides that are no longer needed with portico override end.',
    find: ({ overrides }) => listed(overrides.map((override) => `${changeId(override)} of ${override.operation}`)),
  },
];
