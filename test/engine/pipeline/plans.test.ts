import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/portico-settings.ts';
import { withUpstreamUrl } from '../../../src/engine/config/settings.ts';
import { assembleGateway } from '../../../src/engine/gateway.ts';
import { writeEveryStage } from '../../builders/every-stage.ts';
import { OBSERVED_OPERATIONS, OPERATIONS } from '../../builders/operations.ts';

const nowhere = 'http://127.0.0.1:9';

/** The stages that `observe` mode omits, in alphabetical order. */
const NOT_IN_OBSERVE_MODE = [
  'admit-token',
  'cache-page',
  'coalesce',
  'isolate-page',
  'limit-rate',
  'purge-tags',
  'redact-fields',
  'refuse-deprecated',
  'refuse-disabled',
  'refuse-duplicate',
  'rewrite-addresses',
  'stay-with-server',
];

/** Returns the names of all stages in the operations' plans. */
const stagesOf = (lines: readonly string[]) =>
  new Set(lines.slice(0, -1).flatMap((line) => line.match(/[\w-]+(?: → [\w-]+)+/)?.[0].split(' → ') ?? []));

async function planLines(env: Record<string, string>): Promise<readonly string[]> {
  const settings = loadSettings({ env, cwd: process.cwd() });
  const assembly = assembleGateway(settings.embedded ? withUpstreamUrl(settings, nowhere) : settings);
  await assembly.close();
  return assembly.planLines;
}

describe('the plans', () => {
  it('match the reviewed ones, with a line for each operation and one for undocumented paths', async () => {
    const lines = await planLines({});
    expect(lines).toHaveLength(OPERATIONS.length + 1);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('plans.txt');
  });

  it('omit in observe mode exactly the stages that change or store something, or that refuse requests without a check', async () => {
    const all = stagesOf(await planLines({ PORTICO_CONFIG: writeEveryStage() }));
    const observing = writeEveryStage({ rewriteUrls: false });
    const lines = await planLines({ PORTICO_CONFIG: observing, UPSTREAM_URL: nowhere });
    expect(lines).toHaveLength(OBSERVED_OPERATIONS.length + 1);
    const remaining = stagesOf(lines);
    expect([...all].filter((stage) => !remaining.has(stage)).toSorted()).toEqual(NOT_IN_OBSERVE_MODE);
  });

  it('rewrite nothing on undocumented paths in observe mode', async () => {
    const lines = await planLines({ UPSTREAM_URL: nowhere });
    expect(lines.at(-1)).toBe('*    undocumented paths   purge-tags → find-addresses → forward');
  });

  it('contain no stage of a check that is off', async () => {
    const lines = await planLines({ PORTICO_CONFIG: 'test/engine/pipeline/checks-off.yaml' });
    for (const line of lines) expect(line).not.toMatch(/authorize|bound-page|redact/);
  });
});
