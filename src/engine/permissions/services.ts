import type { Clock } from '../../lib/clock.ts';
import type { NameRule } from '../model/caller-name.ts';
import type { Service } from '../model/service.ts';
import { createAuthorLookup, createOwnership, type FetchJson, type Ownership } from './ownership.ts';
import type { PermissionsOptions } from './permissions-options.ts';

/** What the services of this folder use. */
export interface PermissionsNeeds {
  readonly settings: { readonly permissions: PermissionsOptions; readonly roles: { readonly names: NameRule } };
  readonly clock: Clock;
  readonly lookUp: FetchJson;
}

/** Who has written what. */
export const ownership: Service<Ownership, PermissionsNeeds> = {
  dependsOn: ({ settings, lookUp }) => [settings.permissions.ownership, settings.roles.names, lookUp],
  start: ({ settings: { permissions, roles }, clock, lookUp }) =>
    createOwnership(permissions.ownership, clock, roles.names, createAuthorLookup(permissions.ownership, lookUp)),
};
