import type { Operation } from '../model/operation.ts';
import { toObject } from './items-of.ts';

/** True for an error in the clothes of a success, which names no documented field (rules, 8): nothing else is missing or wrong in it. */
export function isErrorInside({ documentedFields }: Pick<Operation, 'documentedFields'>, json: unknown): boolean {
  const body = toObject(json);
  if (body === undefined || !(Object.hasOwn(body, 'error') || Object.hasOwn(body, 'errors'))) return false;
  return !documentedFields.some((name) => Object.hasOwn(body, name));
}
