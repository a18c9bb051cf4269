import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import { createSeededRandom, type SeededRandom } from '../../lib/seeded-random.ts';
import { applyGdprOperation } from '../gdpr-jobs.ts';
import { passwordHash } from '../http/caller.ts';
import { REFERENCE_ACCOUNTS, type ReferenceAccount } from '../reference-accounts.ts';
import { openSql, type Sql, TABLES } from '../store/sql.ts';
import { draftContent, SEED_END, SEED_START } from './draft-content.ts';
import { seedActions, seedAttachments, seedFollows, seedNodes } from './seed-nodes.ts';

/** First names of seeded users. */
const FIRST_NAMES = 'Hana Ivo Jana Karel Lena Milan Nora Otto Petra Radim Sara Tomas Ute Vera Wanda'.split(' ');

/** Last names of seeded users. */
const LAST_NAMES = 'Abel Brandt Cerny Dvorak Eriksen Fischer Grant Hall'.split(' ');

/** The names of the 8 groups. Their ids are 1 to 8, in this order. */
const GROUP_NAMES = [
  'Super Users',
  'Moderators',
  'Employees',
  'Partners',
  'Champions',
  'Beta Testers',
  'Documentation',
  'Newcomers',
] as const;

/** The names of the 5 seeded spaces. */
const SPACE_NAMES = ['General', 'Installation', 'Administration', 'Development', 'Feedback'] as const;

/** The names of the 40 seeded topics. */
const TOPIC_NAMES = (
  'login passwords single-sign-on ldap backup restore upgrade migration search indexing email notifications ' +
  'attachments images editor themes templates translation plugins webhooks api rest json xml export import reports ' +
  'analytics groups permissions moderation badges reputation spaces mobile performance caching proxy https database'
).split(' ');

// Increase this number whenever the tables change. Existing database files are not migrated.
const LAYOUT = 1;

function fillWhenEmpty(sql: Sql, path: string, seed: number): void {
  const layout = sql.get<{ user_version: number }>('PRAGMA user_version')?.user_version;
  if (layout === LAYOUT) return;
  if (sql.get('SELECT 1 FROM sqlite_schema') !== undefined) {
    throw new Error(
      `${path} is not a database of this version of the reference server: delete it or choose another file`,
    );
  }
  sql.script(TABLES);
  seedStore(sql, seed);
  sql.script(`PRAGMA user_version = ${LAYOUT}`);
}

/** The last seeded database in memory. Copying it is a hundred times as fast as seeding another one. */
let lastSeeded: { readonly seed: number; readonly image: Uint8Array | undefined } | undefined;

/**
 * Opens the store at a file path or `:memory:`, and seeds the store if it is empty. Throws if the file contains
 * anything else.
 */
export function openStore(path: string, seed: number): Sql {
  const inMemory = path === ':memory:';
  if (!inMemory) mkdirSync(dirname(resolve(path)), { recursive: true });
  const sql = openSql(path, inMemory && lastSeeded?.seed === seed ? lastSeeded.image : undefined);
  try {
    if (!inMemory) sql.script('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    // The check runs inside the transaction, because another process may be seeding the same file.
    sql.transaction(() => fillWhenEmpty(sql, path, seed));
    if (inMemory && lastSeeded?.seed !== seed) lastSeeded = { seed, image: sql.image() };
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}

/** Fills empty tables with content that depends only on the seed, not on the current time. */
function seedStore(sql: Sql, seed: number): void {
  const random = createSeededRandom(seed);
  const users = seedUsers(sql, random);
  const spaces = seedSpaces(sql);
  const topics = seedTopics(sql, random, users);
  const nodes = draftContent(random, { users, spaces, topics });
  seedNodes(sql, random, nodes);
  const actions = seedActions(sql, random, { users, nodes });
  seedAttachments(sql, random, nodes);
  seedFollows(sql, random, { users, topics, nodes });
  const afterJobs = seedGdprJobs(sql);
  const lastContent = Math.max(...nodes.map(({ id }) => id));
  const next = { content: lastContent + 1, actions: actions + 1, revisions: 50_000, gdpr: afterJobs };
  for (const [name, value] of Object.entries(next))
    sql.run('INSERT INTO sequences (name, next) VALUES (?, ?)', name, value);
}

const USER_COUNT = 60;

const INSERT_USER = `INSERT INTO users (id, username, realname, email, password_hash, created_at, modified_at, gold, silver, bronze,
  reputation, admin, superuser, moderator) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface SeededAccount extends ReferenceAccount {
  readonly noRealname?: boolean;
}

/** Creates an ordinary account. Some ordinary accounts have combinations of rights that no demo account has. */
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
    // One member of Super Users lacks View analytics, so that tests can verify that the action log requires both
    // membership and the permission.
    groups: [...(index === 5 ? ['Super Users'] : []), ...(index < 3 ? ['Moderators'] : []), ...extraGroups],
    flags: index < 3 ? ['moderator'] : index === 11 ? ['superuser'] : [],
    noRealname: random.chance(0.25),
  };
}

/** Inserts the demo accounts (ids 1 to 5), the other users and the groups. Returns the user ids. */
function seedUsers(sql: Sql, random: SeededRandom): number[] {
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
      INSERT_USER,
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

const FIRST_TOPIC_ID = 21;

/** Inserts the topics and returns their ids. Every fifth topic is the parent of the next four. */
function seedTopics(sql: Sql, random: SeededRandom, users: readonly number[]): number[] {
  return TOPIC_NAMES.map((name, index) => {
    const id = FIRST_TOPIC_ID + index;
    const parent = index % 5 === 0 ? null : id - (index % 5);
    const createdAt = SEED_START + random.integer(1, 2_000_000) * 1000;
    sql.run('INSERT INTO topics VALUES (?, ?, ?, ?, ?, 0)', id, name, random.pick(users), parent, createdAt);
    return id;
  });
}

/** Inserts the spaces and returns their ids, which are the first ids in the content sequence. */
function seedSpaces(sql: Sql): number[] {
  return SPACE_NAMES.map((name, index) => {
    const id = 11 + index;
    sql.run('INSERT INTO spaces VALUES (?, ?, ?, ?)', id, name, name.toLowerCase(), SEED_START);
    return id;
  });
}

// A time far enough in the future for the jobs to stay pending.
const FAR_FUTURE = Date.UTC(2099, 0, 15, 3, 30);
const ADMIN = 1;

const JOBS = [
  { operations: 'suspend', userIds: [57], dueAt: SEED_END - 40 * DAY_MS, finished: true },
  { operations: 'anonymize', userIds: [58, 59], dueAt: SEED_END - 20 * DAY_MS, finished: true },
  { operations: 'suspend', userIds: [54], dueAt: FAR_FUTURE, finished: false },
  { operations: 'anonymize', userIds: [55, 56], dueAt: FAR_FUTURE + DAY_MS, finished: false },
] as const;

/** Inserts uploaded files with pending and finished jobs, and applies the finished jobs. Returns the next id. */
function seedGdprJobs(sql: Sql): number {
  let id = 1;
  for (const { operations, userIds, dueAt, finished } of JOBS) {
    const fileId = id++;
    sql.run('INSERT INTO gdpr_files VALUES (?, ?, ?)', fileId, ADMIN, SEED_END - 60 * DAY_MS);
    for (const userId of userIds) sql.run('INSERT INTO gdpr_file_users VALUES (?, ?)', fileId, userId);
    const jobId = id++;
    const finishedAt = finished ? dueAt : null;
    sql.run('INSERT INTO gdpr_jobs VALUES (?, ?, ?, ?, ?, ?)', jobId, fileId, operations, ADMIN, dueAt, finishedAt);
    if (!finished) continue;
    for (const userId of userIds) {
      applyGdprOperation(sql, operations, userId, dueAt);
      sql.run("INSERT INTO gdpr_executions VALUES (?, ?, ?, 'FINISHED')", id++, jobId, userId);
    }
  }
  return id;
}
