import * as fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../builders/property-runs.ts';
import { replay } from './fuzz-runner.ts';
import { anyScript, type FuzzScript } from './fuzz-script.ts';

/**
 * The attack: arbitrary requests from several callers in any order, with arbitrary responses from the upstream.
 * Whatever the messages contain, the gateway never fails with an internal error, all its errors have the same form,
 * each response is well framed, no caller receives a response meant for another, and the log contains neither passwords
 * nor values. In strict mode, the upstream receives only documented requests.
 */

const CORPUS = new URL('corpus/', import.meta.url);
const corpus = readdirSync(CORPUS)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ name, scripts: JSON.parse(readFileSync(new URL(name, CORPUS), 'utf8')) as readonly FuzzScript[] }));

describe('the corpus of scripts', () => {
  it.each(corpus)('in $name passes', async ({ scripts }) => {
    for (const script of scripts) await replay(script);
    expect(scripts.length).toBeGreaterThan(0);
  });
});

describe.each(['strict', 'staging', 'observe'] as const)('random scripts in %s', (mode) => {
  it('violate no rule', { timeout: 600_000 }, async () => {
    let failure = '';
    const details = await fc.check(
      fc.asyncProperty(anyScript(mode), async (script) => {
        try {
          await replay(script);
        } catch (error) {
          // When a test fails, fast-check prints every value, which can amount to megabytes.
          failure = String(error).slice(0, 5000);
          throw error;
        }
      }),
      { numRuns: propertyRuns(20) },
    );
    expect(details.failed ? `seed ${details.seed}, path ${details.counterexamplePath}: ${failure}` : 'passed').toBe(
      'passed',
    );
  });
});
