import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type ProbeResponse, respond } from '../probe-client.ts';
import { applicable, type DoctorFinding, type Probe, readableList } from '../probe.ts';
import { headerValues } from '../../../engine/model/header-pairs.ts';

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
    const varies = headerValues(gzip.headers, 'vary').some((value) => /accept-encoding|\*/i.test(value));
    return {
      facts: [
        says.gzip === ''
          ? 'The server does not compress, even if the client accepts gzip.'
          : `Asked for gzip, the server sends ${says.gzip}: ${gzip.body.length} instead of ${plain.body.length} bytes.`,
      ],
      findings: applicable([
        await mislabeled(gzip, 'gzip'),
        await mislabeled(plain, 'identity'),
        says.plain !== '' && ignoresIdentity(says.plain),
        says.gzip !== '' && !varies && MISSING_VARY,
      ]),
    };
  },
};

function codingOf({ headers }: ProbeResponse): string {
  const codings = headerValues(headers, 'content-encoding').join(', ').toLowerCase();
  return codings.replace(/\bidentity\b/g, '').trim();
}

/** Returns a finding if the body's actual coding differs from the one stated in the response. */
async function mislabeled(response: ProbeResponse, asked: string): Promise<DoctorFinding | false> {
  const says = codingOf(response);
  const isGzip = response.body.subarray(0, 2).equals(GZIP_START);
  const lie = (text: string): DoctorFinding => ({
    severity: 'critical',
    text: `Asked for ${asked}, the server sends ${text}.`,
    advice: 'Clients cannot read these responses, and Portico never stores them. Fix the server or its proxy.',
  });
  if (says === '' && isGzip) return lie('gzip without Content-Encoding');
  if (!/^(?:x-)?gzip$/.test(says) || response.body.length === 0) return false;
  const truth = isGzip ? 'the body is damaged or incomplete' : 'the body is not compressed';
  const failure = lie(`Content-Encoding: gzip, but ${truth}`);
  return promisify(gunzip)(response.body).then(
    () => false as const,
    () => failure,
  );
}

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
