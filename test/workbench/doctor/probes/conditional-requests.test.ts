import { describe, expect, it } from 'vitest';
import { conditionalProbe } from '../../../../src/workbench/doctor/probes/conditional-requests.ts';
import { runProbe, texts, valueOf, withHeaders } from '../probe-setting.ts';

describe('the probe of conditional requests', () => {
  it('reports whether the server confirms an unchanged page', async () => {
    const result = await runProbe(conditionalProbe, (request, response) =>
      request.headers['if-none-match'] === '"1"'
        ? { status: 304 }
        : withHeaders({ ETag: '"1"', 'Cache-Control': 'no-store' })(request, response),
    );
    expect(result.facts).toContain('The server confirms an unchanged ETag with 304.');
    expect(valueOf(result, 'cache.respectUpstream')).toBe(false);
  });

  it('reports a server that fails on a conditional request', async () => {
    const result = await runProbe(conditionalProbe, (request, response) =>
      request.headers['if-none-match'] === undefined
        ? withHeaders({ ETag: '"1"' })(request, response)
        : { status: 500, json: { error: 'x' } },
    );
    expect(texts(result).join()).toMatch(/neither 304 nor 200/);
  });
});
