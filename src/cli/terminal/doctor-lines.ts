import { type Examination, maxRequests, PROBES } from '../../doctor/examine.ts';
import { recommendedConfiguration } from '../../doctor/recommend.ts';
import { severityCounts } from '../../model/severity.ts';
import { plainText } from '../../report/plain-text.ts';

/** Describes what an examination will do, before it starts. */
export function planLines(
  url: string,
  { maxConcurrency, delayMs }: { readonly maxConcurrency: number; readonly delayMs: number },
): readonly string[] {
  const width = Math.max(...PROBES.map(({ name }) => name.length));
  return [
    `Plan for ${url}: at most ${maxRequests(maxConcurrency)} requests, all of them GET or HEAD, ${delayMs} ms apart`,
    `except for the last probe. Nothing is changed on the server. Ctrl+C ends the examination.`,
    `  ${'address'.padEnd(width)}  searches for /services/v2, and reads each list once`,
    `  ${'certificate'.padEnd(width)}  performs a TLS handshake, if the URL is https`,
    ...PROBES.map(({ name, does }) => `  ${name.padEnd(width)}  ${does}`),
  ];
}

function stepLines({ name, facts, notDone }: Examination['steps'][number]): readonly string[] {
  const texts = notDone === undefined ? facts : [...facts, `not done: ${notDone}`];
  return texts.map((text) => `  ${name}: ${plainText(text)}`);
}

/** Formats the result of an examination. It ends with the recommended configuration. */
export function doctorLines(examination: Examination): readonly string[] {
  const { url, requests, steps, findings } = examination;
  return [
    `${url}: ${requests} requests`,
    '',
    ...steps.flatMap(stepLines),
    '',
    `Findings: ${severityCounts(findings)}`,
    ...findings.flatMap(({ severity, text, advice }) => [
      `  ${severity.toUpperCase()}  ${plainText(text)}`,
      `    ${plainText(advice)}`,
    ]),
    '',
    ...recommendedConfiguration(examination).trimEnd().split('\n'),
  ];
}
