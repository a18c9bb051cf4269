import { IN_MEMORY } from '../files/replace-file.ts';
import { changeId } from '../overrides/override.ts';
import { type AuditRule, foundIf, listed } from './audit-rule.ts';

/** Rules about logs, the ledger and what operators learn from them. */
export const RECORD_RULES: readonly AuditRule[] = [
  {
    id: 'names-in-logs',
    severity: 'medium',
    key: '/logging/principalNames',
    harm: 'Everybody who can read the logs sees who requested what; that is personal data.',
    fix: 'Set it to false; the tag of each caller stays in the log.',
    find: ({ settings: { logging, embedded } }) => foundIf(!embedded && logging.principalNames, 'true'),
  },
  {
    id: 'verbose-log',
    severity: 'low',
    key: '/logging/level',
    harm: 'Detailed logs fill the disk and cost time for every request.',
    fix: 'Use info.',
    find: ({ settings: { logging } }) => foundIf(['debug', 'trace'].includes(logging.level), logging.level),
  },
  {
    id: 'ledger-in-memory',
    severity: 'medium',
    key: '/ledger/file',
    harm: 'A restart loses all recorded violations, so there is no evidence for the next level.',
    fix: 'Set ledger.file to a path on a volume that survives restarts.',
    find: ({ settings: { ledger, embedded } }) => foundIf(!embedded && ledger.file === IN_MEMORY, IN_MEMORY),
  },
  {
    id: 'changes-in-memory',
    severity: 'low',
    key: '/ladder/file',
    harm: 'A restart forgets demotions and overrides, so the same responses are refused again.',
    fix: 'Set ladder.file and overrides.file to paths on a volume that survives restarts.',
    find: ({ settings: { ladder, overrides, embedded } }) => [
      ...foundIf(!embedded && ladder.file === IN_MEMORY, 'ladder.file'),
      ...foundIf(!embedded && overrides.file === IN_MEMORY, 'overrides.file'),
    ],
  },
  {
    id: 'no-baseline',
    severity: 'info',
    key: '/contract/baseline',
    harm: 'Known violations hide new ones in reports and alerts.',
    fix: 'Accept the known ones with a reason (contract.baseline).',
    find: ({ settings: { contract, embedded } }) =>
      foundIf(!embedded && contract.baseline === undefined, 'no baseline'),
  },
  {
    id: 'no-release',
    severity: 'info',
    key: '/release',
    harm: 'Reports cannot show which release of the upstream broke the contract.',
    fix: 'Set release or PORTICO_RELEASE to the release of the legacy server.',
    find: ({ settings: { release, embedded } }) => foundIf(!embedded && release === 'unlabelled', release),
  },
  {
    id: 'levels-lowered',
    severity: 'medium',
    key: '/ladder/demote',
    harm: 'The ladder has lowered checks that the configuration enforces, so violations pass.',
    fix: 'Look at the violations (portico report), fix or accept them, and undo the demotion with portico ladder.',
    find: ({ ladder }) =>
      ladder.filter(({ move }) => move === 'demoted').map(({ operation, check }) => `${check} of ${operation}`),
  },
  {
    id: 'overrides-active',
    severity: 'medium',
    key: '/overrides/file',
    harm: 'Operators have changed operations for a limited time, so Portico does not do what the configuration says.',
    fix: 'End the overrides that are no longer needed with portico override end.',
    find: ({ overrides }) => listed(overrides.map((override) => `${changeId(override)} of ${override.operation}`)),
  },
  {
    id: 'repeated-uploads',
    severity: 'low',
    key: '/gdpr/duplicateWindowSeconds',
    harm: 'A privacy upload that is sent twice is carried out twice.',
    fix: 'Use 600 seconds, which is the default.',
    find: ({ settings: { gdpr, mode } }) => foundIf(!mode.transparent && gdpr.duplicateWindowSeconds === 0, '0'),
  },
  {
    id: 'traffic-sampled',
    severity: 'info',
    key: '/learn/traffic',
    harm: 'Every response is parsed in order to sample it, which costs time on each request.',
    fix: 'Turn it off when portico learn has seen enough.',
    find: ({ settings: { learn, embedded } }) => foundIf(!embedded && learn.traffic, 'true'),
  },
];
