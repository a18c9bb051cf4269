/**
 * The description of an error in logs. It shows where the error occurred, but never contains the message, which may
 * quote a request or response.
 */
interface CauseLine {
  readonly name: string;
  readonly code?: string;
  /** The first frames of the stack trace. */
  readonly at?: readonly string[];
  readonly cause?: CauseLine;
}

const FRAMES = 8;
const DEPTH = 3;

/** Describes an error and its causes by name, code and stack frames. */
export function toCauseLine(error: unknown, depth = DEPTH): CauseLine {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const frames = (error.stack ?? '')
    // Lines of a multi-line message could be mistaken for stack frames.
    .replace(error.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES)
    .map((line) => line.trim());
  return {
    name: error.name,
    ...(code !== undefined && { code }),
    ...(frames.length > 0 && { at: frames }),
    ...(error.cause !== undefined && depth > 1 && { cause: toCauseLine(error.cause, depth - 1) }),
  };
}
