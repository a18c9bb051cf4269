import { expect, it } from 'vitest';
import { demoAccountFaults } from '../../src/config/demo-account-faults.ts';
import { load } from './load-in-folder.ts';

const account = (name: string, demo: boolean) => ({
  name,
  demo,
  roles: [],
  groups: [],
  flags: [],
  passwordHash: undefined,
});
const roles = {
  source: 'config/roles.yaml',
  unmapped: undefined,
  roles: new Map(),
  accounts: [account('admin', true), account('jane', false), account('guest', true)],
};
const REAL = 'upstream: { url: "http://127.0.0.1:9" }';

it('demo accounts in front of a real upstream are a fault that names them all', () => {
  const [fault, ...more] = demoAccountFaults(load(`${REAL}\nauthentication: { verifier: file }`), roles);
  expect(fault?.message).toContain('admin, guest');
  expect(fault?.message).not.toContain('jane');
  expect(more).toEqual([]);
});

it('demo accounts are no fault on the embedded upstream, nor where the upstream verifies', () => {
  expect(demoAccountFaults(load(''), roles)).toEqual([]);
  expect(demoAccountFaults(load(REAL), roles)).toEqual([]);
});
