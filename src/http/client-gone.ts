import type { ServerResponse } from 'node:http';

/** A signal that ends when the client's connection does before the answer is written. */
export function clientGone(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (res.destroyed && !res.writableFinished) gone.abort();
  else
    res.once('close', () => {
      if (!res.writableFinished) gone.abort();
    });
  return gone.signal;
}
