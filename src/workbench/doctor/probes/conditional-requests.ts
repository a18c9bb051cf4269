import { applicable, type DoctorFinding, type Probe, readableList } from '../probe.ts';
import type { Recommendation } from '../recommend.ts';
import { respond } from '../probe-client.ts';
import { headerValues } from '../../../engine/model/header-pairs.ts';

/** Determines whether the server responds with 304 for an unchanged page, and which caching headers it sends. */
export const conditionalProbe: Probe = {
  name: 'conditional requests',
  does: 'requests a list again with the ETag and the date that the server sent for it',
  requests: () => 3,
  run: async (context) => {
    const { path } = readableList(context).operation;
    const { headers } = await respond(context.client, { path });
    const [etag] = headerValues(headers, 'etag');
    const [modified] = headerValues(headers, 'last-modified');
    const status = async (name: string, value: string | undefined) =>
      value === undefined ? undefined : (await respond(context.client, { path, headers: { [name]: value } })).status;
    const byTag = await status('If-None-Match', etag);
    const byDate = await status('If-Modified-Since', modified);
    const cacheControl = headerValues(headers, 'cache-control').join(', ');
    return {
      facts: [
        describe('ETag', byTag),
        describe('Last-Modified', byDate),
        cacheControl === '' ? 'Responses have no Cache-Control.' : `Responses have Cache-Control: ${cacheControl}.`,
      ],
      findings: applicable<DoctorFinding>([
        [byTag, byDate].some((one) => one !== undefined && one !== 304 && one !== 200) && {
          severity: 'low',
          text: 'The server responds to a conditional request with neither 304 nor 200.',
          advice: 'Clients that cache pages themselves get errors. Behind Portico, stored pages are not affected.',
        },
      ]),
      recommendations: applicable<Recommendation>([
        /no-store|private|no-cache/i.test(cacheControl) && {
          key: 'cache.respectUpstream',
          value: false,
          reason: `The server sends Cache-Control: ${cacheControl} on lists, which would keep Portico from storing them.`,
        },
      ]),
    };
  },
};

function describe(name: string, status: number | undefined): string {
  if (status === undefined) return `Responses have no ${name}.`;
  return status === 304 ? `The server confirms an unchanged ${name} with 304.` : `An unchanged ${name} gets ${status}.`;
}
