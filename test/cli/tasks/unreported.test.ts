import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWhyUnreported } from '../../../src/cli/tasks/unreported.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import type { LedgerEntry } from '../../../src/engine/model/ledger-entry.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { entryWith } from '../../workbench/report/report-fixtures.ts';

const folder = tempFolder();
const OVERLAY = join(folder, 'overlay.yaml');
writeFileSync(
  OVERLAY,
  JSON.stringify({
    overlay: '1.0.0',
    info: { title: 'x', version: '1' },
    actions: [
      { target: '$.components.schemas.Node.required', remove: true },
      { target: '$.components.schemas.Node', update: { properties: { extra: { type: 'string' } } } },
    ],
  }),
);

function whyUnreported(config: object, entry: Partial<LedgerEntry>): string | undefined {
  const file = join(folder, 'portico.yaml');
  writeFileSync(file, JSON.stringify(config));
  const { settings, faults } = readSettings({ env: { PORTICO_CONFIG: file }, cwd: folder, flags: [] });
  expect(faults).toEqual([]);
  return createWhyUnreported(settings)(entryWith(entry));
}

const PATH = {
  check: 'undocumented',
  direction: 'request',
  operation: undefined,
  schemaPath: '',
  at: 'POST /services/v2/poll/{id}.json',
} as const;
const PARAMETER = {
  check: 'requests',
  direction: 'request',
  keyword: 'unknown',
  at: 'colour',
  schemaPath: '',
} as const;
const PAGE = {
  check: 'pageBounds',
  direction: 'request',
  keyword: 'page_size_out_of_bounds',
  schemaPath: '',
  message: 'pageSize must be an integer from 1 to 100 (pageBounds.maxPageSize)',
} as const;
const REQUIRED = { at: '/list/*/type', schemaPath: 'resources/node.schema.json#/required' } as const;
const FIELD = { keyword: 'undocumented-field', at: '/list/*/extra', schemaPath: '' } as const;
const ALLOW = [{ method: 'POST', path: '/services/v2/poll/{id}.json' }];

it.each<[string | undefined, object, Partial<LedgerEntry>]>([
  [undefined, {}, PATH],
  ['allowed by undocumented.allow', { undocumented: { allow: ALLOW } }, PATH],
  [undefined, {}, PARAMETER],
  ['allowed by parameters.allow', { parameters: { allow: { listQuestions: ['colour'] } } }, PARAMETER],
  ['requests is off', { checks: { requests: 'off' } }, PARAMETER],
  [undefined, {}, PAGE],
  ['pageBounds.maxPageSize is higher', { pageBounds: { maxPageSize: 500 } }, PAGE],
  [undefined, {}, REQUIRED],
  ['the contract does not state it', { contract: { overlays: [OVERLAY] } }, REQUIRED],
  [undefined, {}, FIELD],
  ['the contract documents it', { contract: { overlays: [OVERLAY] } }, FIELD],
])('the reason is %s with %j', (reason, config, entry) => {
  expect(whyUnreported(config, entry)).toBe(reason);
});
