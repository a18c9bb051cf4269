// The entry point of the module: one pass over the bytes of a body. See docs/adr/0028-response-scanner.md.

import {
  PADDING,
  RESULT_ADDRESS,
  RESULT_BEYOND_ASCII,
  RESULT_DEPARTURES,
  RESULT_UNDOCUMENTED,
  RESULT_VALUES,
} from '../../../src/engine/scanner/table-layout';
import { beginEvents, departures, members } from './events';
import { beginValues, values } from './open';
import { beginText, beyondAscii, hasAddress, skipSpace } from './text';
import { checkValue } from './value';

/**
 * Checks the body between two positions against the rules of a node. Returns true if the body is certain to be valid,
 * and false otherwise. The memory must contain `PADDING` zero bytes after the body.
 */
export function scan(node: u32, from: u32, to: u32, maxDepth: u32): bool {
  for (let at: u32 = 0; at < <u32>PADDING; at += 16) v128.store(to + at, i8x16.splat(0));
  beginText();
  beginValues(maxDepth);
  beginEvents();
  const end = checkValue(node, skipSpace(from), 0);
  store<u32>(RESULT_VALUES, values);
  store<u32>(RESULT_UNDOCUMENTED, members);
  store<u32>(RESULT_DEPARTURES, departures);
  store<u32>(RESULT_BEYOND_ASCII, beyondAscii);
  store<u32>(RESULT_ADDRESS, hasAddress);
  return end != 0 && skipSpace(end) == to;
}
