import { randomBytes } from 'node:crypto';
import { wordsOfForm } from '../../../engine/model/server-errors.ts';
import { errorShape } from '../../../engine/upstream/failures/normalize-failure.ts';
import { type ProbeResponse, respond } from '../probe-client.ts';
import { applicable, type DoctorFinding, type Probe } from '../probe.ts';

/** Match stack traces and server names, which reveal server internals. */
const INTERNALS = /\bat [\w$.]+\([\w.]+:\d+\)|Traceback \(most recent call last\)|Apache Tomcat\/\d/;
const EXCEPTION = /Exception\b/;
const STACK_LINE = /^[ \t]*at /m;

const revealsInternals = (text: string) => INTERNALS.test(text) || (EXCEPTION.test(text) && STACK_LINE.test(text));

const OTHER_FORMS: Readonly<Record<string, string>> = { html: 'an HTML page', empty: 'an empty body' };

/** Determines which of the known forms the server uses to report errors. */
export const errorProbe: Probe = {
  name: 'errors',
  does: 'requests a resource and a path that do not exist, an invalid parameter, and a list without a credential',
  requests: () => 4,
  run: async ({ client, operations, list, profile }) => {
    const listPath = list?.operation.path ?? operations[0]?.path ?? '';
    const unknown = `${profile.basePath}portico-doctor-${randomBytes(4).toString('hex')}.json`;
    const cases = [
      { what: 'a missing resource', request: { path: profile.exploration.missingPath } },
      { what: 'an unknown path', request: { path: unknown } },
      { what: 'an invalid parameter', request: { path: `${listPath}?page=x` } },
      { what: 'a list without a credential', request: { path: listPath, credential: 'none' as const } },
    ];
    const facts: string[] = [];
    const findings: DoctorFinding[] = [];
    for (const { what, request } of cases) {
      const response = await respond(client, request);
      const shape = errorShape(response, profile.serverErrors);
      const form = profile.serverErrors.find(({ name }) => name === shape);
      const shown = form === undefined ? (OTHER_FORMS[shape] ?? 'another form') : wordsOfForm(form);
      const words = response.status < 400 ? '' : ` with ${shown}`;
      facts.push(`${what.charAt(0).toUpperCase()}${what.slice(1)}: ${response.status}${words}.`);
      findings.push(...findingsOf(what, response, shape));
    }
    return { facts, findings };
  },
};

function findingsOf(what: string, { status, body }: ProbeResponse, shape: string) {
  return applicable<DoctorFinding>([
    status >= 400 &&
      shape === 'other' && {
        severity: 'medium',
        text: `The error for ${what} (${status}) has a form that Portico does not know.`,
        advice: 'Portico cannot forward its message. Compare it with docs/errors.md.',
      },
    status >= 500 && {
      severity: 'medium',
      text: `The server responds to ${what} with ${status}.`,
      advice: 'Portico counts these as failures of the upstream; enough of them open the circuit.',
    },
    revealsInternals(body.toString('latin1', 0, 20_000)) && {
      severity: 'low',
      text: `The response to ${what} shows internals of the server.`,
      advice: 'Attackers learn versions and class names from it. With errors: normalized, Portico hides them.',
    },
  ]);
}
