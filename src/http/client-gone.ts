import type { ServerResponse } from 'node:http';
import type { Cancellation } from '../lib/ending.ts';

/** Aborts if the client's connection closes before the response is written. */
class ClientGone implements Cancellation {
  readonly reason = undefined;
  readonly #response: ServerResponse;
  #listeners: readonly (() => void)[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', () => {
      if (this.aborted) for (const listener of this.#listeners) listener();
    });
  }

  get aborted(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }
}

/** Returns a signal that aborts if the client's connection closes before the response is written. */
export function clientGone(response: ServerResponse): Cancellation {
  return new ClientGone(response);
}
