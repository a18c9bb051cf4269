import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { createSilenceWatch } from '../lib/silence-watch.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';

/**
 * What the proxy library sees instead of the client's request: our own fields and a harmless URL, so that nothing of
 * the client's is read by it and nothing is written to the client's request. The path is set by `pathRewrite`. `read` is the
 * body where it was read before.
 */
export function createPassedRequest(
  request: IncomingMessage,
  headers: Record<string, string | string[]>,
  read: Buffer | undefined,
): IncomingMessage {
  const { method, httpVersion, httpVersionMajor, socket } = request;
  const passed = Object.assign(bodyOf(request, read), {
    method,
    url: '/',
    headers,
    httpVersion,
    httpVersionMajor,
    socket,
  });
  return passed as unknown as IncomingMessage;
}

/** True when a request carries a body, so that it cannot be sent twice. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

// Larger ones, and those that do not say how large they are, are streamed.
const SHORT_BODY_BYTES = 65_536;

/** True for a body that is read whole before a place at the upstream is taken, so that a slow client holds none. */
export function hasShortBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SHORT_BODY_BYTES;
}

/** Reads a short body whole; rejects with `UpstreamFailure` of kind `aborted` when the client leaves or pauses too long. */
export function readShortBody(request: IncomingMessage, patienceMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const giveUp = () => {
      watch.stop();
      reject(new UpstreamFailure('aborted'));
    };
    const watch = createSilenceWatch(giveUp);
    watch.start(patienceMs);
    request.on('data', (part: Buffer) => {
      watch.touch();
      parts.push(part);
    });
    request.once('end', () => {
      watch.stop();
      resolve(Buffer.concat(parts));
    });
    request.once('error', giveUp);
    // After the end this changes nothing.
    request.once('close', giveUp);
  });
}

function bodyOf(request: IncomingMessage, read: Buffer | undefined): Readable {
  if (read !== undefined) return Readable.from([read], { objectMode: false, emitClose: false, autoDestroy: false });
  if (!hasBody(request)) return new Readable({ read: endAtOnce, emitClose: false, autoDestroy: false });
  const body = new PassThrough();
  pipeline(request, body, () => undefined);
  return body;
}

function endAtOnce(this: Readable): void {
  this.push(null);
}
