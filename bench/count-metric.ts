import { rawRequest } from './raw-request.ts';

/** The sum of the lines of Portico's metrics that start as the pattern says. */
export async function countMetric(adminPort: number, pattern: RegExp): Promise<number> {
  const { status, body } = await rawRequest(adminPort, '/metrics');
  if (status !== 200) throw new Error(`the metrics cannot be read: status ${status}`);
  return sumOfLines(body.toString(), pattern);
}

/** The sum of the values of the lines of an exposition that match. */
export function sumOfLines(exposition: string, pattern: RegExp): number {
  return exposition
    .split('\n')
    .filter((line) => pattern.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
