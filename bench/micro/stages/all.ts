import type { Stage } from '../stage.ts';
import { admit } from './admit.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { empty } from './empty.ts';
import { etag } from './etag.ts';
import { exchange } from './exchange.ts';
import { gzipDecision } from './gzip-decision.ts';
import { judge } from './judge.ts';
import { key } from './key.ts';
import { ledger } from './ledger.ts';
import { logLine } from './log-line.ts';
import { lookUp } from './look-up.ts';
import { match } from './match.ts';
import { parse } from './parse.ts';
import { plan } from './plan.ts';
import { readHeaders } from './read-headers.ts';
import { record } from './record.ts';
import { resolveTarget } from './resolve-target.ts';
import { scan } from './scan.ts';

/** All stages, in the order in which a request passes through them. */
export const STAGES: readonly Stage[] = [
  empty,
  readHeaders,
  resolveTarget,
  match,
  admit,
  authenticate,
  exchange,
  authorize,
  key,
  lookUp,
  plan,
  gzipDecision,
  parse,
  judge,
  scan,
  etag,
  record,
  ledger,
  logLine,
];
