import { rawRequest } from './raw-request.ts';

/** Requests Portico's metrics and returns the sum of the values in the lines that match the pattern. */
export async function countMetric(adminPort: number, pattern: RegExp): Promise<number> {
  const { status, body } = await rawRequest(adminPort, '/metrics');
  if (status !== 200) throw new Error(`the metrics cannot be read: status ${status}`);
  return sumOfLines(body.toString(), pattern);
}

/** Returns the sum of the values in the matching lines. */
export function sumOfLines(exposition: string, pattern: RegExp): number {
  return exposition
    .split('\n')
    .filter((line) => pattern.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
