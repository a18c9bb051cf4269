import { request } from 'node:http';
import { expect, it } from 'vitest';
import { startTestGateway } from '../../builders/test-gateway.ts';

// By default, Node responds to an unknown expectation with an empty 417, and does not call the application.
it('an expectation other than 100-continue is refused with the usual error body', async () => {
  const gateway = await startTestGateway({ upstream: 'http://127.0.0.1:9' });
  const response = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const headers = { expect: 'miracles' };
    request(`${gateway.url}/services/v2/question.json`, { headers, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part: string) => (text += part));
      res.on('end', () => resolve({ status: res.statusCode, text }));
    })
      .on('error', reject)
      .end();
  });
  expect(response.status).toBe(417);
  expect(JSON.parse(response.text)).toMatchObject({ code: 'expectation_failed', status: 417 });
});
