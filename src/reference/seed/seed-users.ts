import { DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import type { SeededRandom } from '../../lib/seeded-random.ts';
import { passwordHash } from '../http/caller.ts';
import { REFERENCE_ACCOUNTS, type ReferenceAccount } from '../reference-accounts.ts';
import type { Sql } from '../store/sql.ts';
import { FIRST_NAMES, GROUP_NAMES, LAST_NAMES, SEED_START } from './seed-words.ts';

const USER_COUNT = 60;

const INSERT = `INSERT INTO users (id, username, realname, email, password_hash, created_at, modified_at, gold, silver, bronze,
  reputation, admin, superuser, moderator) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface SeededAccount extends ReferenceAccount {
  readonly noRealname?: boolean;
}

/** Creates an ordinary account. Some ordinary accounts have a combination of rights that no demo account has. */
function ordinaryAccount(index: number, random: SeededRandom): SeededAccount {
  const first = FIRST_NAMES[index % FIRST_NAMES.length] ?? '';
  const last =
    LAST_NAMES[((index % FIRST_NAMES.length) + Math.floor(index / FIRST_NAMES.length)) % LAST_NAMES.length] ?? '';
  const name = `${first}.${last}`.toLowerCase();
  const roles: ReferenceAccount['roles'] = [
    'standard',
    ...(index % 2 === 0 ? (['custom'] as const) : []),
    ...(index % 9 === 3 ? (['private comments to moderators'] as const) : []),
    ...(index === 7 ? (['site administration'] as const) : []),
  ];
  const extraGroups = random.sample(GROUP_NAMES.slice(2), random.integer(1, 2));
  return {
    name,
    password: name,
    realname: `${first} ${last}`,
    roles,
    // One member of Super Users lacks View analytics, so that tests can verify that the action log requires both.
    groups: [...(index === 5 ? ['Super Users'] : []), ...(index < 3 ? ['Moderators'] : []), ...extraGroups],
    flags: index < 3 ? ['moderator'] : index === 11 ? ['superuser'] : [],
    noRealname: random.chance(0.25),
  };
}

/** Inserts the demo accounts (ids 1 to 5), the other users and the groups. Returns the user ids. */
export function seedUsers(sql: Sql, random: SeededRandom): number[] {
  GROUP_NAMES.forEach((name, index) => {
    const createdAt = SEED_START + index * HOUR_MS;
    sql.run('INSERT INTO groups VALUES (?, ?, ?, ?)', index + 1, name, createdAt, createdAt + DAY_MS * index);
  });
  const others = Array.from({ length: USER_COUNT - REFERENCE_ACCOUNTS.length }, (_, index) =>
    ordinaryAccount(index, random),
  );
  const accounts: SeededAccount[] = [...REFERENCE_ACCOUNTS, ...others];
  return accounts.map((account, index) => {
    const id = index + 1;
    const { name, flags } = account;
    const createdAt = SEED_START + index * DAY_MS + random.integer(0, 80_000) * 1000;
    const has = (flag: (typeof flags)[number]): number => (flags.includes(flag) ? 1 : 0);
    sql.run(
      INSERT,
      id,
      name,
      account.noRealname === true ? null : account.realname,
      `${name}@community.example.org`,
      passwordHash(id, account.password),
      createdAt,
      createdAt + random.integer(1, 400) * DAY_MS,
      random.integer(0, 4),
      random.integer(0, 20),
      random.integer(0, 60),
      random.integer(1, 9000),
      has('admin'),
      has('superuser'),
      has('moderator'),
    );
    for (const role of account.roles) sql.run('INSERT INTO user_roles VALUES (?, ?)', id, role);
    for (const group of account.groups) {
      sql.run('INSERT INTO group_members SELECT id, ? FROM groups WHERE name = ?', id, group);
    }
    return id;
  });
}
