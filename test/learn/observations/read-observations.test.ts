import { describe, expect, it } from 'vitest';
import { readObservations } from '../../../src/learn/observations/read-observations.ts';
import { MAX_OBSERVATIONS_BYTES, writeObservations } from '../../../src/learn/observations/write-observations.ts';
import { answer, learner, page } from '../learned.ts';

const filled = () => {
  const one = learner(true);
  for (const at of [1, 2, 3, 4]) {
    const items = {
      attachments: [{ size: at, name: 'x', nested: { deep: [1.5, null, 'x'] } }],
      nodeStates: ['closed'],
    };
    one.observeAnswer(answer(page(items), { pageSize: 15 }));
    one.observeAnswer(answer(page(items), { wrap: true }));
    one.observePath({ method: 'GET', path: `/services/v2/question/${at}.json`, status: 200, json: { id: at } });
  }
  return one;
};

const word = (at: number) => String(at).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));

describe('a file of observations', () => {
  it('gives back what was written', () => {
    const text = writeObservations(filled().observations()) ?? '';
    const read = readObservations(text);
    if ('problem' in read) throw new Error(read.problem);
    expect(JSON.parse(writeObservations(read.observations) ?? '')).toEqual(JSON.parse(text));
    expect([...read.observations.paths.keys()]).toEqual(['GET /services/v2/question/{id}.json']);
    expect(read.observations.switches.get('wrap listQuestions')).toMatchObject({ same: 4, different: 0 });
  });

  it('stays below its limit, however much is seen', () => {
    const one = learner();
    for (let at = 0; at < 400; at += 1) {
      const records = Array.from({ length: 12 }, (_, index) => [
        `field_${word(at)}_${word(index)}`,
        { [`x${word(index)}_y`]: at },
      ]);
      const json = page({ [`part_${word(at % 50)}_z`]: Object.fromEntries(records) as object });
      for (const _ of [1, 2, 3]) one.observeAnswer(answer(json));
    }
    const observations = one.observations();
    const text = writeObservations(observations);
    expect(Buffer.byteLength(text ?? 'x'.repeat(MAX_OBSERVATIONS_BYTES + 1))).toBeLessThan(MAX_OBSERVATIONS_BYTES);
    expect(observations.dropped).toBeGreaterThan(0);
  });

  it.each([
    ['no JSON', '{'],
    ['another file', '{"a":1}'],
    [
      'a name that no field has',
      '{"portico":"observations","version":1,"open":{"x":{"objects":{"fields":{"a@b":{}}}}}}',
    ],
    ['a count below zero', '{"portico":"observations","version":1,"answers":-1}'],
  ])('is refused in words when it is %s', (_, text) => {
    expect(readObservations(text)).toMatchObject({ problem: expect.stringMatching(/^is no /) as string });
  });
});
