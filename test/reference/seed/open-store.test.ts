import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/reference/seed/open-store.ts';

const sql = openStore(':memory:', 1);
afterAll(() => sql.close());
const count = (text: string): number => sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM ${text}`)?.total ?? 0;

describe('the seed', () => {
  it.each([
    ['users', 60],
    ['groups', 8],
    ['spaces', 5],
    ['topics', 40],
    ["nodes WHERE type = 'question'", 500],
    ["nodes WHERE type = 'answer'", 900],
    ["nodes WHERE type IN ('comment', 'ideacomment')", 1500],
    ["nodes WHERE type = 'idea'", 120],
    ["nodes WHERE type = 'kbentry'", 60],
    ['actions', 4000],
  ])('returns for %s exactly %i rows', (what, total) => {
    expect(count(what)).toBe(total);
  });

  it.each([
    'follows WHERE active = 1',
    'follows WHERE active = 0',
    'attachments',
    "recipients WHERE kind = 'group'",
    'gdpr_jobs WHERE finished_at IS NULL',
    'gdpr_jobs WHERE finished_at IS NOT NULL',
  ])('contains some %s', (what) => {
    expect(count(what)).toBeGreaterThan(0);
  });

  it('gets the ids of nodes, topics and spaces from one sequence', () => {
    expect(count('(SELECT id FROM nodes UNION SELECT id FROM topics UNION SELECT id FROM spaces)')).toBe(
      count('nodes') + count('topics') + count('spaces'),
    );
  });

  it('creates parents before their children, and recipients only for comments with the visibility recipients', () => {
    expect(count('nodes n JOIN nodes p ON p.id = n.parent_id WHERE n.created_at <= p.created_at OR n.id < p.id')).toBe(
      0,
    );
    expect(count("nodes WHERE visibility = 'recipients' AND id NOT IN (SELECT node_id FROM recipients)")).toBe(0);
    expect(count("nodes WHERE visibility IS NOT 'recipients' AND id IN (SELECT node_id FROM recipients)")).toBe(0);
  });

  it('makes replies inherit the visibility of their parent', () => {
    expect(
      count(
        'nodes r JOIN nodes p ON p.id = r.parent_id WHERE p.visibility IS NOT r.visibility AND p.visibility IS NOT NULL',
      ),
    ).toBe(0);
    expect(count('nodes r JOIN nodes p ON p.id = r.parent_id WHERE p.visibility IS NOT NULL')).toBeGreaterThan(0);
  });

  it('has an active action for each favorite and each wiki', () => {
    const active = "JOIN actions a ON a.id = f.action_id WHERE a.canceled_at IS NULL AND a.verb = 'favorited'";
    expect(count(`favorites f ${active}`)).toBe(count('favorites'));
    expect(
      count(
        "nodes n WHERE wiki = 1 AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.node_id = n.id AND a.verb = 'wikified' AND a.canceled_at IS NULL)",
      ),
    ).toBe(0);
    expect(count('favorites WHERE user_id = 5')).toBe(0);
  });

  it('has at least twenty wiki questions by several authors, including alice', () => {
    const wiki = "nodes WHERE type = 'question' AND wiki = 1";
    expect(count(wiki)).toBeGreaterThanOrEqual(20);
    expect(count(`(SELECT DISTINCT author_id FROM ${wiki})`)).toBeGreaterThanOrEqual(5);
    expect(count(`${wiki} AND author_id = (SELECT id FROM users WHERE username = 'alice')`)).toBeGreaterThan(0);
  });

  it.each(['admin', 'alice'])('has current and removed favorites of %s', (name) => {
    const of = `user_id = (SELECT id FROM users WHERE username = '${name}')`;
    expect(count(`favorites WHERE ${of}`)).toBeGreaterThanOrEqual(10);
    expect(count(`actions WHERE ${of} AND verb = 'favorited' AND canceled_at IS NOT NULL`)).toBeGreaterThan(0);
  });

  it.each(['recipients', 'originalPoster', 'moderators'])('has private comments for %s', (visibility) => {
    const own = `nodes n JOIN nodes p ON p.id = n.parent_id WHERE p.visibility IS NULL AND n.visibility = '${visibility}'`;
    expect(count(own)).toBeGreaterThanOrEqual(5);
    expect(count("nodes WHERE visibility NOT IN ('recipients', 'originalPoster', 'moderators')")).toBe(0);
  });

  it('has a group for each user and an active follower for each topic', () => {
    expect(count('users WHERE id NOT IN (SELECT user_id FROM group_members)')).toBe(0);
    expect(count("topics WHERE id NOT IN (SELECT target_id FROM follows WHERE kind = 'topic' AND active = 1)")).toBe(0);
  });

  it('keeps its history within its bounds for other seeds', () => {
    for (const seed of [2, 3, 4]) {
      const other = openStore(':memory:', seed);
      const total = other.get<{ total: number }>('SELECT COUNT(*) AS total FROM actions')?.total;
      const late = other.get<{ total: number }>(
        'SELECT COUNT(*) AS total FROM nodes WHERE created_at > ?',
        Date.UTC(2019, 1, 7),
      );
      expect([total, late?.total]).toEqual([4000, 0]);
      other.close();
    }
  });
});

describe('two stores in memory with the same seed', () => {
  it('start with the same content, and changes to one do not appear in the other', () => {
    const [changed, other] = [openStore(':memory:', 1), openStore(':memory:', 1)];
    changed.run("UPDATE nodes SET title = 'changed'");
    const titles = [changed, other].map(
      (store) => store.get<{ n: number }>("SELECT COUNT(*) AS n FROM nodes WHERE title = 'changed'")?.n,
    );
    expect(titles).toEqual([count('nodes'), 0]);
    expect(other.all('SELECT id, title FROM nodes ORDER BY id')).toEqual(
      sql.all('SELECT id, title FROM nodes ORDER BY id'),
    );
    changed.close();
    other.close();
  });
});
