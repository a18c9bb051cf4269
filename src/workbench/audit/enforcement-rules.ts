import type { CheckName } from '../../engine/model/checks.ts';
import { type AuditRule, type AuditSubject, foundIf } from './audit-rule.ts';
import { listed } from '../../lib/listed.ts';
import { verifierOf } from '../../engine/identity/verifiers.ts';

/** Rules about checks that are not enforced. */
export const ENFORCEMENT_RULES: readonly AuditRule[] = [
  {
    id: 'nothing-enforced',
    severity: 'medium',
    key: '/mode',
    realOnly: true,
    risk: 'Nothing is refused: every violation and every missing permission is only counted.',
    fix: 'Look at the recorded violations (portico report), accept or fix them, and move to mode: staging.',
    find: (subject) => {
      const enforces = Object.values(subject.settings.checks).includes('enforce');
      const own = subject.operations.some(({ id }) =>
        Object.values(subject.settings.checksFor(id)).includes('enforce'),
      );
      return foundIf(!enforces && !own, `mode ${subject.settings.mode.name} enforces no checks`);
    },
  },
  {
    id: 'authentication-off',
    severity: 'high',
    key: '/checks/authentication',
    realOnly: true,
    risk: 'Anyone who can reach the public port can use these operations under any name, without a password.',
    fix: 'Set the check to enforce, or at least to report.',
    find: (subject) => listed(operationsAt(subject, 'authentication', 'off')),
  },
  {
    id: 'permissions-off',
    severity: 'high',
    key: '/checks/permissions',
    realOnly: true,
    risk: 'Callers without the required permission still get responses, including private fields of comments.',
    fix: 'Set the check to enforce.',
    find: (subject) => {
      const off = operationsAt(subject, 'permissions', 'off');
      const guarded = subject.operations.filter((one) => one.requires !== undefined || one.privateFields !== undefined);
      return listed(guarded.map(({ id }) => id).filter((id) => off.includes(id)));
    },
  },
  {
    id: 'unmapped-callers-delegated',
    severity: 'info',
    key: '/roles/unmapped',
    realOnly: true,
    risk: 'For callers without an account, only the upstream checks permissions; Portico adds no protection.',
    fix: 'List the accounts in the roles file and set roles.unmapped to deny or to a role with few permissions.',
    find: (subject) => {
      const { roles, authentication, checks } = subject.settings;
      const policy = roles.unmapped ?? subject.roles.unmapped ?? 'delegate';
      const delegates = policy === 'delegate' && verifierOf(authentication).asksUpstream;
      return foundIf(delegates && checks.permissions === 'enforce', 'delegate');
    },
  },
];

const operationsAt = ({ settings, operations }: AuditSubject, check: CheckName, level: string): readonly string[] =>
  operations.map(({ id }) => id).filter((id) => settings.checksFor(id)[check] === level);
