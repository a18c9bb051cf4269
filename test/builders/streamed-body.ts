import { StreamedBody } from '../../src/engine/model/streamed-body.ts';
import type { UpstreamFailure } from '../../src/engine/model/upstream-failure.ts';

/** Records what a body has requested from its source. */
interface TestSource {
  isPaused: boolean;
  /** Why the body was destroyed. Undefined unless that happened before the source ended it. */
  aborted: UpstreamFailure | undefined;
  /** Called when the body asks for more data. */
  onResume: (() => void) | undefined;
}

/** Creates a body and its source. The body begins with the given parts, and the test pushes the rest. */
export function openBody(...parts: string[]): { readonly body: StreamedBody; readonly source: TestSource } {
  const source: TestSource = { isPaused: false, aborted: undefined, onResume: undefined };
  const body = new StreamedBody({
    pause: () => (source.isPaused = true),
    resume() {
      source.isPaused = false;
      source.onResume?.();
    },
    abort: (reason) => (source.aborted = reason),
  });
  for (const part of parts) body.push(Buffer.from(part));
  return { body, source };
}

/** Creates a complete body from the given parts. */
export function bodyOf(...parts: string[]): StreamedBody {
  const { body } = openBody(...parts);
  body.finish();
  return body;
}

/** Reads a streamed body to its end. Returns its bytes and, if the body was truncated, the failure. */
export function drain(body: Buffer | StreamedBody): Promise<{ bytes: Buffer; failure: UpstreamFailure | undefined }> {
  const parts: Buffer[] = [];
  return new Promise((resolve) => {
    streamOf(body).read({
      part: (bytes) => parts.push(bytes) > 0,
      end: (failure) => resolve({ bytes: Buffer.concat(parts), failure }),
    });
  });
}

/** Waits until a streamed body has been read, has failed or has been destroyed. Returns the failure, if any. */
export function endOf(body: Buffer | StreamedBody): Promise<UpstreamFailure | undefined> {
  return new Promise((resolve) => streamOf(body).onEnd(resolve));
}

/** Returns a reply's body. Throws if it is not streamed. */
export function streamOf(body: Buffer | StreamedBody): StreamedBody {
  if (Buffer.isBuffer(body)) throw new Error('the body does not stream');
  return body;
}
