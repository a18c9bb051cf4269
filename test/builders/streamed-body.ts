import { StreamedBody } from '../../src/model/streamed-body.ts';
import type { UpstreamFailure } from '../../src/model/upstream-failure.ts';

/** What a body has asked of its source. */
interface TestSource {
  isPaused: boolean;
  /** The reason if the body was destroyed before the source ended it. */
  aborted: UpstreamFailure | undefined;
  /** Called when the body asks for more. */
  onResume: (() => void) | undefined;
}

/** A body that the test continues to push, after these parts, and its source. */
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

/** A complete body of these parts. */
export function bodyOf(...parts: string[]): StreamedBody {
  const { body } = openBody(...parts);
  body.finish();
  return body;
}

/** Reads a body that streams to its end: its bytes, and the failure that broke it off. */
export function drain(body: Buffer | StreamedBody): Promise<{ bytes: Buffer; failure: UpstreamFailure | undefined }> {
  const parts: Buffer[] = [];
  return new Promise((resolve) => {
    streamOf(body).read({
      part: (bytes) => parts.push(bytes) > 0,
      end: (failure) => resolve({ bytes: Buffer.concat(parts), failure }),
    });
  });
}

/** Waits until a body that streams has been read, has failed or is destroyed. */
export function endOf(body: Buffer | StreamedBody): Promise<UpstreamFailure | undefined> {
  return new Promise((resolve) => streamOf(body).onEnd(resolve));
}

/** A body that must stream. */
export function streamOf(body: Buffer | StreamedBody): StreamedBody {
  if (Buffer.isBuffer(body)) throw new Error('the body does not stream');
  return body;
}
