import type { Caller, Permission } from './caller.ts';
import { missingCredential, missingPermission, refuse } from './errors.ts';

/** Refuses an anonymous caller with 401 and a challenge. */
export function demandCredential(caller: Caller): void {
  if (caller.anonymous) refuse(missingCredential());
}

/** Refuses a caller who lacks one of the permissions as the legacy server does: 401 with the permission message. */
export function demandPermissions(caller: Caller, ...permissions: readonly Permission[]): void {
  if (!permissions.every((permission) => caller.permissions.has(permission))) refuse(missingPermission());
}

/** Refuses a caller who is neither an administrator nor a super user. */
export function demandAdministrator(caller: Caller): void {
  demandCredential(caller);
  if (!caller.admin && !caller.superuser) refuse(missingPermission());
}

/** Refuses a caller who is not a member of the group. */
export function demandGroup(caller: Caller, group: string): void {
  if (!caller.groups.includes(group)) refuse(missingPermission());
}
