import { describe, expect, it } from 'vitest';
import {
  closeServices,
  type ListedService,
  openServices,
  type Runs,
  startServices,
  useServices,
} from '../../src/engine/run-services.ts';

interface Context {
  readonly size: number;
  readonly pages?: string;
}

/** Returns two services, of which the second uses the first, and what the loop does with them. */
function createList(more: Partial<ListedService<Context>> = {}) {
  const events: unknown[] = [];
  const services: readonly ListedService<Context>[] = [
    { name: 'pages', start: () => 'the pages', close: () => void events.push('close the pages') },
    {
      name: 'sizes',
      dependsOn: ({ size }) => ({ size }),
      start: ({ size, pages }, earlier) => `${pages}, ${size}${typeof earlier === 'string' ? ` after ${earlier}` : ''}`,
      open: async (value) => void events.push(`open ${String(value)}`),
      use: (value) => void events.push(`use ${String(value)}`),
      close: (value, graceMs, { size }) => void events.push(`close ${String(value)}, ${graceMs} ms, ${size}`),
      ...more,
    },
  ];
  const onError = (service: string, error: unknown) => void events.push([service, error]);
  return {
    events,
    start: (size: number, earlier?: Runs<Context>) => startServices(services, { size }, onError, earlier),
    close: (runs: Runs<Context>, graceMs: number, next?: Runs<Context>) => closeServices(runs, graceMs, onError, next),
  };
}

describe('the services of a gateway', () => {
  it('find those before them under their names', () => {
    expect(createList().start(1).context).toEqual({ size: 1, pages: 'the pages', sizes: 'the pages, 1' });
  });

  it('go on through a reload that does not affect them, and are replaced otherwise', async () => {
    const { events, start, close } = createList();
    const first = start(1);
    await openServices(first);
    const same = start(1, first);
    await openServices(same, first);
    useServices(same);
    await close(first, Infinity, same);
    expect(events.splice(0)).toEqual(['open the pages, 1', 'use the pages, 1']);
    const next = start(2, same);
    await openServices(next, same);
    useServices(next);
    await close(same, Infinity, next);
    expect(events).toEqual([
      'open the pages, 2 after the pages, 1',
      'use the pages, 2 after the pages, 1',
      'close the pages, 1, Infinity ms, 1',
    ]);
  });

  it('are closed in reverse order, even if one of them cannot be closed', async () => {
    const stuck = new Error('stuck');
    const { events, start, close } = createList({ close: () => Promise.reject(stuck) });
    await close(start(1), 50);
    expect(events).toEqual([['sizes', stuck], 'close the pages']);
  });

  it('leave nothing behind if one of them cannot be started, except what is in use', () => {
    const broken = createList({
      start({ size }) {
        if (size > 1) throw new Error('too large');
        return size;
      },
    });
    const first = broken.start(1);
    expect(() => broken.start(2, first)).toThrow('too large');
    expect(broken.events).toEqual([]);
    expect(() => broken.start(2)).toThrow('too large');
    expect(broken.events).toEqual(['close the pages']);
  });

  it('that a refused reload has started are closed, and the others go on', async () => {
    const { events, start, close } = createList();
    const first = start(1);
    await close(start(2, first), 0, first);
    expect(events).toEqual(['close the pages, 2 after the pages, 1, 0 ms, 2']);
  });

  it('that cannot use a configuration refuse it, but do not keep the others from returning to the earlier one', () => {
    const stuck = new Error('stuck');
    const used: string[] = [];
    const services: readonly ListedService<Context>[] = [
      {
        name: 'pages',
        start: () => 'the pages',
        use() {
          throw stuck;
        },
      },
      { name: 'sizes', start: () => 'the sizes', use: (value) => void used.push(String(value)) },
    ];
    const runs = startServices<Context>(services, { size: 1 }, () => undefined);
    expect(() => useServices(runs)).toThrow(stuck);
    expect(used).toEqual([]);
    const errors: unknown[] = [];
    useServices(runs, (service, error) => void errors.push([service, error]));
    expect(errors).toEqual([['pages', stuck]]);
    expect(used).toEqual(['the sizes']);
  });
});
