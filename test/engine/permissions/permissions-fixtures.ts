import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal } from '../../../src/engine/model/principal.ts';
import type { Requirement, PrivateFields } from '../../../src/engine/model/operation.ts';
import { compilePermissions, type PermissionsParts } from '../../../src/engine/permissions/compile-permissions.ts';
import { loadRoles } from '../../../src/engine/permissions/roles-file.ts';

/** The text of the bundled roles file. */
export const SEED = readFileSync(join(import.meta.dirname, '../../../config/roles.yaml'), 'utf8');

const permission = (name: string): Requirement => ({ permission: name });
const page = [permission('View answers in the question page'), permission('View the question page')];

/** The requirements in the specification's table, with additions from docs/rules.md such as `unwikify`. */
export const REQUIREMENTS: Readonly<Record<string, Requirement | undefined>> = {
  upload: { any: [{ flag: 'admin' }, { flag: 'superuser' }] },
  job: undefined,
  attachments: permission('Add attachments to issues'),
  comment: { all: page },
  questions: permission('View the questions list'),
  actions: { all: [permission('View analytics'), { group: 'Super Users' }] },
  ideas: permission('View list idea'),
  groupUsers: permission('Edit users and groups'),
  followers: permission('View users list'),
  unfavorite: { all: [permission('Mark as favorite'), permission('View the question page')] },
  unwikify: {
    any: [permission('Mark as community wiki'), { own: permission('Convert own posts to community wiki') }],
  },
  articles: permission('View list kbentry'),
  expertise: permission("View user's profile"),
};

/** The private fields of comments, as in the contract. */
export const PRIVATE_FIELDS: PrivateFields = {
  names: ['visibility', 'recipients'],
  requires: {
    all: [
      { permission: 'Use Private Comments' },
      {
        any: [
          { permission: 'Send private comments to the original poster' },
          { permission: 'Send private comments to moderators' },
          { permission: 'Send private comments to own groups' },
        ],
      },
    ],
  },
};

/** The operations from the table, with their requirements. */
export const OPERATIONS = Object.entries(REQUIREMENTS).map(([id, requires]) => ({
  id,
  requires,
  privateFields: id === 'questions' ? PRIVATE_FIELDS : undefined,
}));

/** Returns permissions compiled from the bundled roles file. */
export function compiled(parts: Partial<PermissionsParts> = {}) {
  const roles = loadRoles(SEED, 'roles.yaml', undefined);
  return compilePermissions({
    roles,
    operations: OPERATIONS,
    unmapped: { kind: 'deny' },
    names: 'exact',
    knownToUpstream: false,
    ...parts,
  });
}

/** Returns a principal of the given kind. */
export function principal(kind: Principal['kind'], name?: string): Principal {
  return { kind, name, audience: `${kind}:${name ?? ''}`, authorization: undefined };
}
