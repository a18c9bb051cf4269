import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { PERMISSIONS_DEFAULTS, permissionsOptionsSchema } from '../../../src/engine/permissions/permissions-options.ts';
import { ROLES_DEFAULTS, rolesOptionsSchema } from '../../../src/engine/permissions/roles-options.ts';

const ajv = new Ajv2020({ strict: true });

describe('the schemas of `roles:` and `permissions:`', () => {
  it('accept the defaults', () => {
    expect(ajv.validate(rolesOptionsSchema, JSON.parse(JSON.stringify(ROLES_DEFAULTS)))).toBe(true);
    expect(ajv.validate(permissionsOptionsSchema, JSON.parse(JSON.stringify(PERMISSIONS_DEFAULTS)))).toBe(true);
  });

  it.each([
    { ownership: { lookup: '/services/v2/node.json' } },
    { ownership: { lookup: 'https://elsewhere/{nodeId}' } },
    { ownership: { authorPointer: 'author' } },
    { ownership: { max: 1 } },
  ])('refuse %j', (options) => {
    expect(ajv.validate(permissionsOptionsSchema, options)).toBe(false);
  });
});
