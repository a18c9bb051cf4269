import type { Guide } from '../guide.ts';
import { mistypedPlaces } from './mistyped-places.ts';

/** True for an answer of another type, or that lacks most of what it must have: another thing altogether than the contract describes. */
export function isOtherEnvelope(guide: Guide, json: unknown, complete: boolean): boolean {
  if (!guide.open && mistypedPlaces(guide, json).length > 0) return true;
  const required = new Set(guide.required.map(({ name }) => name));
  if (required.size < 2) return false;
  const envelope = guide.sites.some(({ schema }) => schema['x-envelope'] === true);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return true;
  if (!complete && !envelope) {
    const names = Object.keys(json);
    return names.length > 0 && names.every((name) => guide.member(name) === undefined);
  }
  return [...required].filter((name) => !Object.hasOwn(json, name)).length > required.size / 2;
}
