import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/engine/config/config-schema.ts';
import { PORTICO } from '../../../src/portico-settings.ts';
import { operationFaults } from '../../../src/engine/config/cross-faults.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { loadContract } from '../../../src/engine/contract/load-contract.ts';
import { rolesFileSchema } from '../../../src/engine/permissions/roles-file.ts';
import { faultsOf, load } from './load-in-folder.ts';

const read = (name: string) => readFileSync(join(packageRoot, 'config', name), 'utf8');
const sample = read('portico.yaml');
// A token and a token file are mutually exclusive.
const uncommented = sample.replaceAll(/^#(?!adminTokenFile)(?=\S| {2})/gm, '');

describe('the committed configuration', () => {
  it('has an up-to-date schema for editors', () => {
    expect(JSON.parse(read('portico.schema.json'))).toEqual(configSchema(PORTICO));
  });

  it('has schemas that are valid under the meta-schema, which is not checked at startup', () => {
    const ajv = new Ajv2020();
    expect(ajv.validateSchema(configSchema(PORTICO))).toBe(true);
    expect(ajv.validateSchema(rolesFileSchema)).toBe(true);
    expect(ajv.validateSchema({ ...configSchema(PORTICO), properties: { mode: { enum: 'strict' } } })).toBe(false);
  });

  it('does not set a value: all keys are commented out', () => {
    const [given, absent] = [load(sample), load('')];
    const { roles, cwd, features } = given;
    // The paths in these settings depend on the working directory.
    expect(JSON.stringify(given)).toBe(JSON.stringify({ ...absent, roles, cwd, features }));
  });

  it('is valid with all keys uncommented', () => {
    // Portico refuses the token of the example, so nobody can use it by accident.
    expect(faultsOf(uncommented)).toMatchObject([{ pointer: '/adminToken' }]);
    const valid = uncommented.replace('change-me-please', 'mPq7-fXv2-Lw9s');
    expect(faultsOf(valid)).toEqual([]);
    const settings = load(valid);
    const ids = loadContract(settings.contract).operations.map(({ id }) => id);
    expect(operationFaults(settings, ids)).toEqual([]);
  });

  it('shows all keys', () => {
    const { properties } = configSchema(PORTICO) as { properties: object };
    for (const key of Object.keys(properties)) expect(sample).toMatch(new RegExp(`^#${key}:`, 'm'));
  });
});
