import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temp-folder.ts';
import { TOKENS_ON } from './tokens-on.ts';

/**
 * The settings that make every stage part of at least one plan, provided that the `DISABLED` override is also set. If a
 * new stage is planned only under another setting, add that setting here.
 */
export const EVERY_STAGE = {
  rewriteUrls: true,
  rateLimits: [{ name: 'all', requests: 1000, windowSeconds: 60 }],
  tokens: TOKENS_ON,
  // Everybody can read the files of a checkout.
  readableSecrets: 'allow',
  cutover: { url: 'http://new.invalid', file: ':memory:', operations: { '*': { share: 0 } } },
  deprecation: {
    entries: [{ operations: ['listIdeas'], since: '2026-01-01', sunset: '2999-01-01', refuseAfterSunset: true }],
  },
};

/** The override that adds `refuse-disabled` to a plan. */
export const DISABLED = { operation: 'listIdeas', kind: 'disable', reason: 'INC-17' };

/**
 * Writes a configuration that makes every stage part of at least one plan, and returns the file's path. `changes`
 * replaces settings that the mode does not allow.
 */
export function writeEveryStage(changes: object = {}): string {
  const folder = tempFolder();
  const file = join(folder, 'portico.yaml');
  const roles = { file: join(import.meta.dirname, '..', '..', 'config', 'roles.yaml') };
  const levels = { file: join(folder, 'levels.json') };
  writeFileSync(file, JSON.stringify({ ...EVERY_STAGE, ...changes, roles, levels }));
  const [since, until] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const entry = { source: 'operator', ...DISABLED, since, until };
  writeFileSync(levels.file, JSON.stringify({ version: 1, contracts: [], entries: [entry] }));
  return file;
}
