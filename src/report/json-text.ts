import { plainText } from './plain-text.ts';

/** A value as JSON that can be shown anywhere: what JSON lets through and a terminal acts on is escaped. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(plainText).join('\n');
}
