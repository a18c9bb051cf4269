import { randomBytes } from 'node:crypto';

/** A name beside a file for what is not finished. Nobody else can guess it, and put a link to another file there first. */
export const draftOf = (file: string): string => `${file}.${randomBytes(6).toString('hex')}.tmp`;
