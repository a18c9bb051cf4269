import { describe, expect, it } from 'vitest';
import type { Dispatcher } from 'undici';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { createStop, type RequestSender, sendBuffered, sendStreamed } from '../../../src/engine/upstream/sending.ts';
import { drain } from '../../builders/streamed-body.ts';

const request = { method: 'GET', path: '/', headers: [], body: null };
const deadline = new UpstreamFailure('deadline');

/** Creates a dispatcher that only stores the handlers for the requests it receives. */
function createIdleDispatcher() {
  const handlers: Dispatcher.DispatchHandler[] = [];
  const dispatcher: RequestSender = { dispatch: (_request, handler) => handlers.push(handler) > 0 };
  return { dispatcher, handlers };
}

describe.each([
  ['whose response is read into memory', sendBuffered],
  ['whose response is streamed', sendStreamed],
])('a request %s', (_form, send) => {
  const sendTo = (dispatcher: RequestSender, stop: ReturnType<typeof createStop>) =>
    send(dispatcher, request, { stop, limit: 10, readerTimeoutMs: 10 }, { responseStarted: false });

  it('is not sent after its exchange has been stopped', async () => {
    const { dispatcher, handlers } = createIdleDispatcher();
    const stop = createStop();
    stop.stop(deadline);
    await expect(sendTo(dispatcher, stop)).rejects.toBe(deadline);
    expect(handlers).toEqual([]);
  });

  it('is aborted if it starts although its exchange has been stopped while it was waiting for a connection', async () => {
    const { dispatcher, handlers } = createIdleDispatcher();
    const stop = createStop();
    const sent = sendTo(dispatcher, stop);
    stop.stop(deadline);
    await expect(sent).rejects.toBe(deadline);
    const aborted: unknown[] = [];
    const controller = { abort: (reason: Error) => aborted.push(reason) } as unknown as Dispatcher.DispatchController;
    handlers[0]?.onRequestStart?.(controller, {});
    expect(aborted).toEqual([deadline]);
  });
});

it('a response that fails while its reader pauses leaves no timer that would discard the part received so far', async () => {
  const { dispatcher, handlers } = createIdleDispatcher();
  const sent = sendStreamed(
    dispatcher,
    request,
    { stop: createStop(), readerTimeoutMs: 60_000 },
    { responseStarted: false },
  );
  const [handler] = handlers;
  const controller = { rawHeaders: [], pause: () => undefined } as unknown as Dispatcher.DispatchController;
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  handler?.onRequestStart?.(controller, {});
  handler?.onResponseStart?.(controller, 200, {});
  const before = timers();
  handler?.onResponseData?.(controller, Buffer.alloc(100_000));
  expect(timers()).toBe(before + 1);
  handler?.onResponseError?.(controller, new Error('reset'));
  expect(timers()).toBe(before);
  const { bytes, failure } = await drain((await sent).body);
  expect([bytes.length, failure?.kind]).toEqual([100_000, 'truncated']);
});
