import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { createUploadMemory } from '../../../src/profile/gdpr/upload-memory.ts';
import { isForced, refuseDuplicate } from '../../../src/profile/gdpr/refuse-duplicate.ts';
import {
  arrivalWith,
  callerNamed,
  createNext,
  type ExchangeParts,
  exchangeWith,
  failureOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
} from '../../builders/exchange.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const upload: PlannedParts = { operation: { method: 'POST', requestRules: ['gdpr-csv'] } };
const created = replyWith({ fileId: 1 }, { status: 201 });
const body = Buffer.from('{"content":"username\\nalice"}');

function uploading(next = createNext(created)) {
  const uploads = createUploadMemory(openAlone(createTestClock()).claims('upload'));
  const handle = stageIn(refuseDuplicate(uploads, 600_000), plannedWith(upload), next);
  return { next, send: (parts: ExchangeParts = {}) => handle(exchangeWith({ body, ...parts })) };
}

describe('refuse-duplicate', () => {
  it('has work only for uploads, and none in observe mode', () => {
    const stage = refuseDuplicate(createUploadMemory(openAlone(createTestClock()).claims('upload')), 600_000);
    expect(stage.plan(plannedWith())).toBeUndefined();
    expect(stage.plan(plannedWith({ ...upload, transparent: true }))).toBeUndefined();
  });

  it('refuses a repeated upload by the same caller after a success', async () => {
    const { send, next } = uploading();
    await send();
    expect(await failureOf(send())).toMatchObject({
      code: 'duplicate_upload',
      message: 'The same file was uploaded a short time ago.',
      details: [{ name: 'Portico-Force' }],
    });
    expect(next.asked).toHaveLength(1);
  });

  it('refuses it while the first is in progress', async () => {
    const gate = Promise.withResolvers<typeof created>();
    const { send } = uploading(createNext(() => gate.promise));
    const first = send();
    expect(await failureOf(send())).toMatchObject({ message: 'The same file is already being uploaded.' });
    gate.resolve(created);
    await first;
  });

  it('accepts it if it is forced, from another caller or with another body', async () => {
    const { send, next } = uploading();
    await send();
    await send({ arrival: arrivalWith({ headers: { 'portico-force': 'true' } }) });
    await send({ principal: callerNamed('bob') });
    await send({ body: Buffer.from('{}') });
    expect(next.asked).toHaveLength(4);
  });

  it('accepts it after a failure', async () => {
    const { send, next } = uploading(createNext(() => Promise.reject(new GatewayError('upstream_timeout', ''))));
    await failureOf(send());
    next.respond = () => replyWith({}, { status: 400 });
    await send();
    next.respond = () => created;
    await send();
    expect(next.asked).toHaveLength(3);
  });

  it('forwards a body that it cannot compare', async () => {
    const { send, next } = uploading();
    await send({ body: Readable.from([]) });
    await send({ body: Readable.from([]) });
    expect(next.asked).toHaveLength(2);
  });
});

describe('Portico-Force', () => {
  it('forces an upload only with the value true', () => {
    expect(['true', ' TRUE ', 'false', '1', '', undefined, ['true', 'true']].map((value) => isForced(value))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
