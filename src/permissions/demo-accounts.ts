import type { RolesFile } from './roles-file.ts';

/** The names of the public accounts, whose passwords everybody knows. */
export function demoAccounts({ accounts }: RolesFile): string[] {
  return accounts.filter(({ demo }) => demo).map(({ name }) => name);
}

/** The roles file as it holds with a real upstream: nobody is mapped or let in by a public account. */
export function withoutDemoAccounts(roles: RolesFile): RolesFile {
  return { ...roles, accounts: roles.accounts.filter(({ demo }) => !demo) };
}
