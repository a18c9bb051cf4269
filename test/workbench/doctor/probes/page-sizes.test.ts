import { describe, expect, it } from 'vitest';
import { pageSizeProbe } from '../../../../src/workbench/doctor/probes/page-sizes.ts';
import { page, runProbe, texts, valueOf } from '../probe-setting.ts';

describe('the page-size probe', () => {
  it('finds the size at which the server cuts pages, and the default size', async () => {
    const result = await runProbe(pageSizeProbe, ({ query }) => ({ json: page(query, 50) }));
    expect(valueOf(result, 'pageBounds.maxPageSize')).toBe(50);
    expect(valueOf(result, 'cache.defaultPageSize.listQuestions')).toBe(15);
    expect(texts(result)).toEqual(['medium: For a page size of 100, the server sends 50 items.']);
  });

  it('finds the size that the server refuses', async () => {
    const result = await runProbe(pageSizeProbe, ({ query }) =>
      Number(query.get('pageSize')) > 100 ? { status: 400, json: { error: 'Too many.' } } : { json: page(query) },
    );
    expect(valueOf(result, 'pageBounds.maxPageSize')).toBe(100);
  });

  it('concludes nothing from a short list', async () => {
    const result = await runProbe(pageSizeProbe, () => ({ json: { list: [{ id: 1 }], totalCount: 1 } }));
    expect(result.recommendations).toEqual([]);
    expect(texts(result)).toEqual([]);
  });
});
