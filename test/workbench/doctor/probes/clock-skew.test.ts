import { describe, expect, it } from 'vitest';
import { clockProbe } from '../../../../src/workbench/doctor/probes/clock-skew.ts';
import { runProbe, texts, withHeaders } from '../probe-setting.ts';

describe('the clock probe', () => {
  it('reports a clock that is an hour off', async () => {
    const result = await runProbe(clockProbe, withHeaders({ Date: new Date(Date.now() - 3_600_000).toUTCString() }));
    expect(texts(result).join()).toMatch(/medium: The clocks differ by -3(?:599|600|601)\.\d s/);
  });

  it('cannot be done without a valid Date header', async () => {
    await expect(runProbe(clockProbe, withHeaders({ Date: 'today' }))).rejects.toThrow('no valid Date header');
  });
});
