import type { ErrorDetail } from '../../src/engine/errors/gateway-error.ts';
import type { Items, LegacyBody } from '../reference/legacy-body.ts';

/** The members of JSON bodies that tests read: the upstream's fields, and those of Portico's errors. */
export interface Body extends Omit<LegacyBody, 'status'> {
  readonly code: string;
  readonly detail: string;
  readonly details: Items<ErrorDetail>;
  readonly reasons: readonly string[];
  readonly requestId: string;
  readonly status: unknown;
}
