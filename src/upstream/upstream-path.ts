import { GatewayError } from '../errors/gateway-error.ts';

/**
 * The path that is written to the upstream: base path and raw target, never normalised and never read as a URL,
 * so that `//host`, backslashes and dots in it stay a path. Throws on what could end the request line.
 */
export function upstreamPath(basePath: string, target: string): string {
  if (!target.startsWith('/') || /[^\x21-\xff]/.test(target)) {
    throw new GatewayError('unsafe_path', 'The path holds characters that are not passed on.');
  }
  return basePath + target;
}
