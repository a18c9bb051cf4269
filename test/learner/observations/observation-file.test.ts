import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createObservationWriter,
  readObservationFile,
  MAX_OBSERVATIONS_BYTES,
  readObservations,
  writeObservations,
} from '../../../src/learner/observations/observation-file.ts';
import { emptyObservations } from '../../../src/learner/observations/observations.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { learner, page, response } from '../learned.ts';

const NOW = Date.UTC(2026, 4, 4, 10);

describe('the file of observations', () => {
  it('is readable for its owner only, like the folder created for it', () => {
    const folder = join(tempFolder(), 'deep');
    const file = join(folder, 'observations.json');
    const failures: string[] = [];
    const writer = createObservationWriter(
      file,
      () => emptyObservations(NOW),
      (message) => failures.push(message),
    );
    writer.changed();
    writer.close();
    expect(failures).toEqual([]);
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(folder)).toEqual(['observations.json']);
    expect(readFileSync(file, 'utf8')).toContain('"portico":"observations"');
    expect(readObservationFile(file, { source: 'test', pointer: '' }, 1).sinceAt).toBe(NOW);
  });
});

const filled = () => {
  const one = learner(true);
  for (const at of [1, 2, 3, 4]) {
    const items = {
      attachments: [{ size: at, name: 'x', nested: { deep: [1.5, null, 'x'] } }],
      nodeStates: ['closed'],
    };
    const request = `/services/v2/question.json?page=${at}`;
    one.sampleResponse(response(page(items), { request, pageSize: 15 }));
    one.sampleResponse(response(page(items), { request, wrap: true }));
    one.samplePath({ method: 'GET', path: `/services/v2/question/${at}.json`, status: 200, json: { id: at } });
  }
  return one;
};

const word = (at: number) => String(at).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));

describe('an observations file', () => {
  it('can be read back', () => {
    const text = writeObservations(filled().observations()) ?? '';
    const read = readObservations(text);
    if ('problem' in read) throw new Error(read.problem);
    expect(JSON.parse(writeObservations(read.observations) ?? '')).toEqual(JSON.parse(text));
    expect([...read.observations.paths.keys()]).toEqual(['GET /services/v2/question/{id}.json']);
    expect(read.observations.switches.get('wrap listQuestions')).toMatchObject({ same: 4, different: 0 });
  });

  it('stays below its size limit, however many values are sampled', () => {
    const one = learner();
    for (let at = 0; at < 400; at += 1) {
      const records = Array.from({ length: 12 }, (_, index) => [
        `field_${word(at)}_${word(index)}`,
        { [`x${word(index)}_y`]: at },
      ]);
      const json = page({ [`part_${word(at % 50)}_z`]: Object.fromEntries(records) as object });
      for (const _ of [1, 2, 3]) one.sampleResponse(response(json));
    }
    const observations = one.observations();
    const text = writeObservations(observations);
    expect(Buffer.byteLength(text ?? 'x'.repeat(MAX_OBSERVATIONS_BYTES + 1))).toBeLessThan(MAX_OBSERVATIONS_BYTES);
    expect(observations.dropped).toBeGreaterThan(0);
  });

  it.each([
    ['not JSON', '{'],
    ['another file', '{"a":1}'],
    [
      'a file with an invalid field name',
      '{"portico":"observations","version":1,"open":{"x":{"objects":{"fields":{"a@b":{}}}}}}',
    ],
    ['a file with a negative count', '{"portico":"observations","version":1,"answers":-1}'],
  ])('is rejected with a description of the problem if it is %s', (_, text) => {
    expect(readObservations(text)).toMatchObject({ problem: expect.stringMatching(/^is not /) as string });
  });
});
