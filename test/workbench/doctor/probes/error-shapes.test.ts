import { describe, expect, it } from 'vitest';
import { errorProbe } from '../../../../src/workbench/doctor/probes/error-shapes.ts';
import { healthy, LIST, runProbe, texts } from '../probe-setting.ts';

describe('the error probe', () => {
  it('names the form of each error', async () => {
    const result = await runProbe(errorProbe, (request, response) => {
      if (request.path.includes('/comment/')) return { status: 401, json: { errors: { message: 'No.' } } };
      return request.path === LIST ? healthy(request, response) : { status: 404, body: '<html>No such page</html>' };
    });
    expect(result.facts).toEqual([
      'A missing resource: 401 with {errors: {message}}.',
      'An unknown path: 404 with an HTML page.',
      'An invalid parameter: 400 with {error}.',
      'A list without a credential: 401 with {error}.',
    ]);
  });

  it('reports unknown forms, server errors and internals', async () => {
    const result = await runProbe(errorProbe, (request, response) => {
      if (request.path === LIST) return healthy(request, response);
      if (request.path.includes('/comment/')) return { status: 404, json: { fault: 'x' } };
      return { status: 500, body: '<html>java.lang.NullPointerException\n  at org.example.Qa(Qa.java:12)</html>' };
    });
    expect(texts(result)).toEqual([
      'medium: The error for a missing resource (404) has a form that Portico does not know.',
      'medium: The server responds to an unknown path with 500.',
      'low: The response to an unknown path shows internals of the server.',
    ]);
  });
});
