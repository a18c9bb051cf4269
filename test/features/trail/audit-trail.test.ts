import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AuditEntry,
  auditEntryJson,
  formatAuditEntry,
  parseAuditEntry,
} from '../../../src/features/trail/audit-entry.ts';
import { readTrailFiles, trailFilesOf } from '../../../src/features/trail/audit-file.ts';
import { createAuditTrail, REFUSALS_PER_HOUR } from '../../../src/features/trail/audit-trail.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const AT = Date.parse('2026-05-04T10:00:00Z');
const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  at: AT,
  action: 'purge',
  outcome: 'done',
  actor: 'token',
  by: 'alice',
  from: '10.0.0.1',
  way: 'console',
  subject: { tags: ['questions'] },
  after: { purged: 3 },
  ...more,
});
const refused = (at = AT) => entry({ at, action: 'sign in', outcome: 'refused', actor: 'unknown' });

function trailIn(folder = join(tempFolder(), 'new'), maxBytes?: number) {
  const files = trailFilesOf(join(folder, 'overrides-audit.jsonl'));
  const errors: unknown[] = [];
  const heard: AuditEntry[] = [];
  const parts = { stored: readTrailFiles(files), files, onEntry: (one: AuditEntry) => void heard.push(one) };
  const trail = createAuditTrail({ ...parts, onError: (error) => errors.push(error), ...(maxBytes && { maxBytes }) });
  return { folder, files, errors, heard, trail };
}

describe('the audit trail', () => {
  it('survives a restart, and only its owner may read it', async () => {
    const { folder, trail, heard } = trailIn();
    expect(await trail.record(entry())).toBe(true);
    await trail.record(entry({ action: 'accept', before: { reason: 'x' } }));
    expect(heard).toHaveLength(2);
    expect(trailIn(folder).trail.latest()).toEqual(trail.latest());
    expect(statSync(join(folder, 'overrides-audit.jsonl')).mode & 0o777).toBe(0o600);
  });

  // The process can be killed while it is writing a line.
  it('keeps later entries readable after an incomplete or damaged line', async () => {
    const { folder, trail } = trailIn();
    await trail.record(entry());
    appendFileSync(join(folder, 'overrides-audit.jsonl'), '{"at":"2026-05-04T10:00:00.000Z","action":"pu');
    await trail.record(entry({ action: 'lift' }));
    appendFileSync(join(folder, 'overrides-audit.jsonl'), '\nnull\n{"action":"renamed"}\n{"event":"renamed"}\n[]\n');
    expect(
      trailIn(folder)
        .trail.latest()
        .map(({ action }) => action),
    ).toEqual(['purge', 'lift']);
  });

  it('is bounded: a full file is renamed, and both files are read', async () => {
    const { folder, trail } = trailIn(undefined, 1000);
    for (let index = 0; index < 30; index += 1) await trail.record(entry({ subject: { tags: [`node:${index}`] } }));
    expect(readdirSync(folder)).toContain('overrides-audit.1.jsonl');
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).size).toBeLessThan(1300);
    const stored = trailIn(folder).trail.latest();
    expect(stored.at(-1)?.subject).toEqual({ tags: ['node:29'] });
    expect(stored.length).toBeGreaterThan(3);
  });

  it('cannot be filled by somebody who is refused: the rest is counted in the next entry', async () => {
    const { trail } = trailIn();
    for (let index = 0; index < REFUSALS_PER_HOUR + 5; index += 1) void trail.record(refused());
    await trail.record(entry());
    expect(trail.latest()).toHaveLength(REFUSALS_PER_HOUR + 1);
    // Another kind of actor has a limit of its own.
    await trail.record(entry({ outcome: 'refused' }));
    expect(trail.latest()).toHaveLength(REFUSALS_PER_HOUR + 2);
    await trail.record(refused(AT + 3_600_000));
    expect(trail.latest().at(-1)?.omitted).toBe(5);
    await trail.record(refused(AT + 3_600_001));
    expect(trail.latest().at(-1)?.omitted).toBeUndefined();
  });

  it('has every change that was made, however many there are', async () => {
    const { trail } = trailIn();
    for (let index = 0; index < REFUSALS_PER_HOUR + 5; index += 1) await trail.record(entry());
    expect(trail.latest()).toHaveLength(REFUSALS_PER_HOUR + 5);
  });

  it('bounds the size of an entry', async () => {
    const { folder, trail } = trailIn();
    const tags = Array.from({ length: 1000 }, () => 'x'.repeat(10_000));
    await trail.record(entry({ subject: { tags, operation: 'y'.repeat(10_000) }, reason: 'z'.repeat(10_000) }));
    expect(readFileSync(join(folder, 'overrides-audit.jsonl'), 'utf8').length).toBeLessThan(30_000);
    expect(trail.latest()[0]?.subject?.['tags']).toContain('and 950 more');
  });

  it('reports a failed write', async () => {
    const folder = tempFolder();
    const files = { current: folder, previous: `${folder}.1` };
    const errors: unknown[] = [];
    const parts = { stored: [], files, onEntry: () => undefined, onError: (error: unknown) => void errors.push(error) };
    expect(await createAuditTrail(parts).record(entry())).toBe(false);
    expect(errors).toHaveLength(1);
  });

  it('reads the lines that were written while it contained only overrides', () => {
    const override = { operation: 'listIdeas', kind: 'disable', reason: 'x', by: 'alice', from: '::1' };
    const line = (more: object) => JSON.stringify({ at: '2026-05-04T10:00:00.000Z', ...override, ...more });
    expect(parseAuditEntry(line({ event: 'set' }))).toMatchObject({
      action: 'override set',
      by: 'alice',
      after: override,
    });
    const ended = parseAuditEntry(line({ event: 'ended', endedBy: { by: 'bob', from: '::2' } }));
    expect(ended).toMatchObject({ action: 'override ended', by: 'bob', from: '::2', before: override });
    expect(parseAuditEntry(line({ event: 'expired' }))).toMatchObject({ actor: 'portico', before: override });
  });

  it('recognizes an entry by its line after it has been parsed', () => {
    const { action, outcome, ...rest } = entry({ subject: { operation: 'listIdeas' }, gateway: 'a' });
    const line = formatAuditEntry({ ...rest, outcome, action });
    const parsed = parseAuditEntry(line);
    expect(parsed && formatAuditEntry(parsed)).toBe(line);
  });

  it('shows times in ISO 8601', () => {
    expect(auditEntryJson(entry()).at).toBe('2026-05-04T10:00:00.000Z');
  });
});
