import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from making room for more young objects until the answer is called. It doubles that room, up to 32 MB, while
 * many of them survive, and gives nothing back for minutes; nearly all that a start makes survives, and little that a
 * request makes. Afterwards the room grows as the load asks for it.
 */
export function keepNurserySmall(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => setFlagsFromString('--semi-space-growth-factor=2');
}
