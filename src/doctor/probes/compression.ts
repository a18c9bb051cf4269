import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type DoctorFinding, type Probe, readableList, respond, valuesOf } from '../probe.ts';
import type { ProbeResponse } from '../probe-client.ts';

const GZIP_START = Buffer.from([0x1f, 0x8b]);

/** Determines whether the server compresses responses on request, and whether it labels them correctly. */
export const compressionProbe: Probe = {
  name: 'compression',
  does: 'requests a list with gzip and with identity, and compares what the server says with what it sends',
  requests: () => 2,
  run: async (context) => {
    const { path } = readableList(context).operation;
    const gzip = await respond(context.client, { path, headers: { 'Accept-Encoding': 'gzip' } });
    const plain = await respond(context.client, { path, headers: { 'Accept-Encoding': 'identity' } });
    const says = { gzip: codingOf(gzip), plain: codingOf(plain) };
    return {
      facts: [
        says.gzip === ''
          ? 'The server does not compress, even if the client accepts gzip.'
          : `Asked for gzip, the server sends ${says.gzip}: ${gzip.body.length} instead of ${plain.body.length} bytes.`,
      ],
      findings: [
        ...(await lies(gzip, 'gzip')),
        ...(await lies(plain, 'identity')),
        ...(says.plain === '' ? [] : [ignoresIdentity(says.plain)]),
        ...(says.gzip !== '' && !variesByCoding(gzip) ? [MISSING_VARY] : []),
      ],
    };
  },
};

const codingOf = ({ headers }: ProbeResponse): string =>
  valuesOf(headers, 'content-encoding')
    .join(', ')
    .toLowerCase()
    .replace(/\bidentity\b/g, '')
    .trim();

const variesByCoding = ({ headers }: ProbeResponse) =>
  valuesOf(headers, 'vary').some((value) => /accept-encoding|\*/i.test(value));

async function lies(response: ProbeResponse, asked: string): Promise<readonly DoctorFinding[]> {
  const says = codingOf(response);
  const isGzip = response.body.subarray(0, 2).equals(GZIP_START);
  if (says === '' && isGzip) return [lie(`Asked for ${asked}, the server sends gzip without Content-Encoding.`)];
  if (!/^(?:x-)?gzip$/.test(says) || response.body.length === 0) return [];
  const isSound = await promisify(gunzip)(response.body).then(
    () => true,
    () => false,
  );
  if (isSound) return [];
  const truth = isGzip ? 'the body is damaged or incomplete' : 'the body is not compressed';
  return [lie(`Asked for ${asked}, the server sends Content-Encoding: gzip, but ${truth}.`)];
}

const lie = (text: string): DoctorFinding => ({
  severity: 'critical',
  text,
  advice: 'Clients cannot read these responses, and Portico never stores them. Fix the server or its proxy.',
});

const ignoresIdentity = (coding: string): DoctorFinding => ({
  severity: 'low',
  text: `The server sends ${coding} although the client asked for identity.`,
  advice: 'Portico decodes the response, but simple clients without Portico cannot read it.',
});

const MISSING_VARY: DoctorFinding = {
  severity: 'medium',
  text: 'Compressed responses do not have Vary: Accept-Encoding.',
  advice: 'A cache between Portico and the server may send compressed pages to clients that cannot read them.',
};
