import { describe, expect, it } from 'vitest';
import { requestSizeProbe } from '../../../../src/workbench/doctor/probes/request-size.ts';
import { healthy, runProbe, valueOf } from '../probe-setting.ts';

describe('the probe of request heads', () => {
  it('finds the size that the server refuses', async () => {
    const result = await runProbe(requestSizeProbe, (request, response) =>
      String(request.headers['x-portico-doctor'] ?? '').length > 8000 ? { status: 431 } : healthy(request, response),
    );
    expect(valueOf(result, 'listen.maxHeaderBytes')).toBe(8000);
    expect(result.facts.join()).toMatch(/refused with 431/);
  });
});
