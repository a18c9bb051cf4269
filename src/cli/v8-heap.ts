import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from making room for more young objects until it is let grow. It doubles that room, up to 32 MB, while many
 * of them survive, and gives nothing back for minutes; nearly all that a start makes survives, and little that a request
 * makes. To be called before anything else is read: what has grown by then stays.
 */
export function keepNurserySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets the room for young objects grow as the load asks for it. */
export function letNurseryGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
