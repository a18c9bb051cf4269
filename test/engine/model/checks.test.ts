import { describe, expect, it } from 'vitest';
import { checksSchema } from '../../../src/engine/config/general-options.ts';
import { suggestFix } from '../../../src/engine/contract/suggest-fix.ts';
import { CHECK_NAMES, CHECKS } from '../../../src/engine/model/checks.ts';
import type { LedgerEntry } from '../../../src/engine/model/ledger-entry.ts';
import { COUNTED_METRICS } from '../../../src/engine/telemetry/metric-list.ts';

describe('a check in the table', () => {
  it.each(CHECK_NAMES)('%s has a configuration key, a metric label and a way to fix it', (name) => {
    expect(checksSchema.properties[name].description).toBe(CHECKS[name].examines);
    expect(COUNTED_METRICS.checks.values()[0]).toContain(name);
    const entry = { check: name, keyword: 'rule', direction: 'response', at: '' } as unknown as LedgerEntry;
    expect(suggestFix(entry, { schema: undefined }, '/').advice).toBe(`To fix it, change ${CHECKS[name].toFix}`);
  });
});
