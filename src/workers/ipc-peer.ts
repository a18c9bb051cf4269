/** One end of the channel between the primary process and a worker. */
export interface IpcPort {
  /** Sends a message. Throws if the channel is closed or if the message cannot be cloned. */
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
}

/** A function that the other process can call. Its argument and its result must be cloneable. */
export type Handler = (value: never) => unknown;

/** Returns the function with the given name, or undefined if there is none. */
type HandlerOf = (name: string) => Handler | undefined;

/** The process at the other end of the channel. */
export interface Peer {
  /**
   * Calls a function in the other process. Rejects if the function fails, if the channel closes, or if there is no
   * result within `timeoutMs` milliseconds (default: 10,000).
   */
  call(name: string, value?: unknown, timeoutMs?: number): Promise<unknown>;
  readonly isOpen: boolean;
}

interface CallMessage {
  readonly portico: 'call';
  readonly id: number;
  readonly name: string;
  readonly value: unknown;
}
interface ResultMessage {
  readonly portico: 'result';
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

const TIMEOUT_MS = 10_000;

/**
 * Connects to the other process. Invalid messages are ignored. Node sends such messages for its own purposes, and a
 * process with corrupted memory might also send them.
 */
export function createPeer(port: IpcPort, handlerOf: HandlerOf): Peer {
  const waiting = new Map<number, (result: ResultMessage) => void>();
  let calls = 0;
  let open = true;

  const answer = async ({ id, name, value }: CallMessage): Promise<ResultMessage> => {
    const handler = handlerOf(name);
    if (handler === undefined) return { portico: 'result', id, error: `${name} is not a function of this process` };
    try {
      return { portico: 'result', id, value: await handler(value as never) };
    } catch (error) {
      return { portico: 'result', id, error: error instanceof Error ? error.message : String(error) };
    }
  };
  const reply = async (message: CallMessage) => {
    const result = await answer(message);
    if (!open) return;
    try {
      port.send(result);
    } catch {
      // The other process has exited, or the result cannot be cloned. In both cases, the caller's time limit ends the
      // call.
    }
  };
  port.onMessage((message) => {
    if (isResult(message)) waiting.get(message.id)?.(message);
    else if (isCall(message)) void reply(message);
  });
  port.onClose(() => {
    open = false;
    for (const [id, settle] of waiting) settle({ portico: 'result', id, error: 'the other process has ended' });
  });
  return {
    get isOpen() {
      return open;
    },
    call(name, value, timeoutMs = TIMEOUT_MS) {
      const id = (calls += 1);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => waiting.get(id)?.({ portico: 'result', id, error: `${name}: no result after ${timeoutMs} ms` }),
          timeoutMs,
        ).unref();
        waiting.set(id, ({ value: result, error }) => {
          clearTimeout(timer);
          waiting.delete(id);
          if (error === undefined) resolve(result);
          else reject(new Error(error));
        });
        try {
          if (!open) throw new Error('the other process has ended');
          port.send({ portico: 'call', id, name, value } satisfies CallMessage);
        } catch (error) {
          waiting.get(id)?.({ portico: 'result', id, error: error instanceof Error ? error.message : 'closed' });
        }
      });
    },
  };
}

function isCall(message: unknown): message is CallMessage {
  return isMessage(message, 'call') && 'name' in message && typeof message.name === 'string';
}

function isResult(message: unknown): message is ResultMessage {
  return isMessage(message, 'result');
}

function isMessage(message: unknown, kind: 'call' | 'result'): message is object {
  return typeof message === 'object' && message !== null && 'portico' in message && message.portico === kind;
}
