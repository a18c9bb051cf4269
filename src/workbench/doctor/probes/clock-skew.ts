import { applicable, type DoctorFinding, type Probe, readableList } from '../probe.ts';
import { CannotProbe, respond } from '../probe-client.ts';
import { headerValues } from '../../../engine/model/header-pairs.ts';

const MAX_SKEW_SECONDS = 5;
const SAMPLES = 3;

/** Determines whether the server's clock and this machine's clock agree. */
export const clockProbe: Probe = {
  name: 'clock',
  does: 'compares the Date header of three responses with the clock of this machine',
  requests: () => SAMPLES,
  run: async (context) => {
    const { path } = readableList(context).operation;
    const skews: { readonly seconds: number; readonly error: number }[] = [];
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const { headers, sentAt, headAt } = await respond(context.client, { path, method: 'HEAD' });
      const date = Date.parse(headerValues(headers, 'date')[0] ?? '');
      // The Date header contains only whole seconds, so the server's actual time is up to one second later (half a
      // second on average).
      if (!Number.isNaN(date))
        skews.push({ seconds: (date + 500 - (sentAt + headAt) / 2) / 1000, error: (headAt - sentAt) / 2000 + 0.5 });
    }
    // The fastest exchange gives the most accurate measurement.
    const [best] = skews.toSorted((one, other) => one.error - other.error);
    if (best === undefined) throw new CannotProbe('the responses have no valid Date header (RFC 9110 §6.6.1)');
    const [skew, error] = [best.seconds.toFixed(1), best.error.toFixed(1)];
    const isWrong = Math.abs(best.seconds) > best.error + MAX_SKEW_SECONDS;
    return {
      facts: [`The server's clock differs from this machine's by ${skew} s (± ${error} s).`],
      findings: applicable<DoctorFinding>([
        isWrong && {
          severity: 'medium',
          text: `The clocks differ by ${skew} s.`,
          advice: 'Logs cannot be compared, and Expires and Date mislead caches. Set both clocks with NTP.',
        },
      ]),
    };
  },
};
