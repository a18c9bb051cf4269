import { UNLABELLED } from '../../engine/model/release-statistics.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';

/** Rules about logs, the ledger and other records of traffic. */
export const RECORD_RULES: readonly AuditRule[] = [
  {
    id: 'names-in-logs',
    severity: 'medium',
    key: '/logging/principalNames',
    realOnly: true,
    risk: 'Everyone who can read the logs can see who requested what, which is personal data.',
    fix: 'Set it to false. The log still contains a tag for each caller.',
    find: ({ settings: { logging } }) => foundIf(logging.principalNames, 'true'),
  },
  {
    id: 'verbose-log',
    severity: 'low',
    key: '/logging/level',
    risk: 'Detailed logs fill the disk and slow down every request.',
    fix: 'Use info.',
    find: ({ settings: { logging } }) => foundIf(['debug', 'trace'].includes(logging.level), logging.level),
  },
  {
    id: 'no-baseline',
    severity: 'info',
    key: '/contract/baseline',
    realOnly: true,
    risk: 'New violations are hard to notice among the known ones in reports and alerts.',
    fix: 'List the known violations with a reason in a baseline (contract.baseline).',
    find: ({ settings: { originOf } }) => foundIf(originOf('/contract/baseline') === 'default', 'no baseline'),
  },
  {
    id: 'no-release',
    severity: 'info',
    key: '/release',
    realOnly: true,
    risk: 'Reports cannot show which release of the upstream broke the contract.',
    fix: 'Set release or PORTICO_RELEASE to the release of the legacy server.',
    find: ({ settings: { release } }) => foundIf(release === UNLABELLED, release),
  },
];
