import { randomBytes } from 'node:crypto';
import { IDENTITY_DEFAULTS } from '../../identity/identity-options.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import { applicable, type DoctorFinding, type Probe, type ProbeContext } from '../probe.ts';
import { type ProbeResponse, respond } from '../probe-client.ts';
import type { Recommendation } from '../recommend.ts';
import { headerValues } from '../../model/header-pairs.ts';

const { path: PROBE_PATH, validStatuses: VALID } = IDENTITY_DEFAULTS.probe;

/** Determines how the server treats callers without a credential and callers with an invalid one. */
export const challengeProbe: Probe = {
  name: 'challenge',
  does: 'requests a list without a credential, and the path of the credential probe with a made-up name and your own',
  requests: () => 5,
  run: async (context) => {
    const { client, operations } = context;
    const path = context.list?.operation.path ?? operations[0]?.path ?? PROBE_PATH;
    const anonymous = await respond(client, { path, credential: 'none' });
    const challenges = headerValues(anonymous.headers, 'www-authenticate');
    const [, realm] = /\brealm="([ !#-[\]-~]{1,100})"/i.exec(challenges.join(',')) ?? [];
    const verifier = await verifierFindings(context, path);
    return {
      facts: [
        `Without a credential, a list gets ${anonymous.status}.`,
        challenges.length === 0 ? 'There is no WWW-Authenticate header.' : `Challenge: ${challenges.join(', ')}.`,
        ...verifier.facts,
      ],
      findings: [...challengeFindings(anonymous, challenges), ...verifier.findings],
      recommendations: [
        ...applicable<Recommendation>([
          realm !== undefined && {
            key: 'authentication.realm',
            value: realm,
            reason: 'The realm of the server, so that clients see no change.',
          },
          anonymous.status === 200 && {
            key: 'authentication.anonymous',
            value: 'allow',
            reason: 'The server serves lists without a credential; with deny, these clients would get a 401.',
          },
        ]),
        ...verifier.recommendations,
      ],
    };
  },
};

function challengeFindings({ status }: ProbeResponse, challenges: readonly string[]): readonly DoctorFinding[] {
  return applicable<DoctorFinding>([
    status === 401 &&
      challenges.length === 0 && {
        severity: 'low',
        text: 'A 401 has no challenge.',
        advice: 'RFC 9110 §11.6.1 requires one. With errors: normalized, Portico adds it.',
      },
    challenges.length > 0 &&
      !challenges.some((value) => /\bbasic\b/i.test(value)) && {
        severity: 'high',
        text: 'The server does not offer Basic authentication.',
        advice: 'Portico verifies only Basic credentials. In observe, it forwards other credentials unchecked.',
      },
  ]);
}

/** The results for the path that `authentication.verifier: upstream` uses to check credentials. */
interface VerifierResult {
  readonly facts: readonly string[];
  readonly findings: readonly DoctorFinding[];
  readonly recommendations: readonly Recommendation[];
}

/**
 * Determines whether responses for a path distinguish invalid credentials from valid ones. The user name is made up so
 * that failed attempts do not lock a real account.
 */
async function verifierFindings({ client, list }: ProbeContext, listPath: string): Promise<VerifierResult> {
  const name = `portico-doctor-${randomBytes(6).toString('hex')}`;
  const authorization = toAuthorization(name, randomBytes(12).toString('hex'));
  const distinguishes = async (path: string, valid: readonly number[]) => {
    const wrong = (await respond(client, { path, credential: { authorization } })).status;
    const right = client.hasCredential ? (await respond(client, { path })).status : undefined;
    const isUsable = !valid.includes(wrong) && (right === undefined || valid.includes(right));
    return { wrong, right, isUsable };
  };
  const { wrong, right, isUsable } = await distinguishes(PROBE_PATH, VALID);
  const seen = `A made-up credential gets ${wrong}${right === undefined ? '' : `, and yours gets ${right}`} from ${PROBE_PATH}.`;
  if (isUsable) return { facts: [seen], findings: [], recommendations: [] };
  const other = list === undefined ? undefined : await distinguishes(listPath, [200]);
  if (other?.isUsable === true && other.right !== undefined)
    return {
      facts: [seen],
      findings: [],
      recommendations: [
        {
          key: 'authentication.probe.path',
          value: listPath,
          reason: `The default path does not distinguish credentials (${wrong} and ${right}); this one does.`,
        },
        {
          key: 'authentication.probe.validStatuses',
          value: [200],
          reason: 'This path returns 200 for a valid credential.',
        },
      ],
    };
  return {
    facts: [seen],
    findings: [
      {
        severity: 'high',
        text: `A made-up credential cannot be told from a valid one: it gets ${wrong} from ${PROBE_PATH}.`,
        advice:
          'The verifier upstream would not be safe. Set authentication.probe to a path that needs a valid account.',
      },
    ],
    recommendations: [],
  };
}
