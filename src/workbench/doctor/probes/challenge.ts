import { randomBytes } from 'node:crypto';
import { IDENTITY_DEFAULTS } from '../../../engine/identity/identity-options.ts';
import { VERIFIERS } from '../../../engine/identity/verifiers.ts';
import { parseBasicCredentials, toAuthorization } from '../../../lib/basic-credentials.ts';
import { applicable, type DoctorFinding, type Probe, type ProbeContext } from '../probe.ts';
import { type ProbeResponse, respond } from '../probe-client.ts';
import type { Recommendation } from '../recommend.ts';
import { headerValues } from '../../../engine/model/header-pairs.ts';

/** The authentication schemes of the credentials that the upstream can verify. */
const SCHEMES = [...new Set(Object.values(VERIFIERS).flatMap((one) => (one.asksUpstream ? one.scheme.name : [])))];

const { validStatuses: VALID } = IDENTITY_DEFAULTS.probe;

/** Determines how the server treats callers without a credential and callers with an invalid one. */
export const challengeProbe: Probe = {
  name: 'challenge',
  does: 'requests a list without a credential, and the path of the credential probe with a made-up name, your own, and your own in another case',
  requests: () => 6,
  run: async (context) => {
    const { client, operations } = context;
    const path = context.list?.operation.path ?? operations[0]?.path ?? context.profile.probePath;
    const anonymous = await respond(client, { path, credential: 'none' });
    const challenges = headerValues(anonymous.headers, 'www-authenticate');
    const [, realm] = /\brealm="([ !#-[\]-~]{1,100})"/i.exec(challenges.join(',')) ?? [];
    const words = wordsOf(challenges);
    const verifier = await verifierFindings(context, path);
    return {
      facts: [
        `Without a credential, a list gets ${anonymous.status}.`,
        ...(words.has('basic') ? [TOKENS] : []),
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

const TOKENS =
  'Clients of the server carry passwords. In front of it, Portico can issue tokens to them: docs/tokens.md#moving-a-client.';

/** Returns the words of the challenges, in small letters. */
const wordsOf = (challenges: readonly string[]): ReadonlySet<string> =>
  new Set(challenges.flatMap((value) => value.toLowerCase().split(/[^\w-]+/)));

function challengeFindings({ status }: ProbeResponse, challenges: readonly string[]): readonly DoctorFinding[] {
  const words = wordsOf(challenges);
  return applicable<DoctorFinding>([
    status === 401 &&
      challenges.length === 0 && {
        severity: 'low',
        text: 'A 401 has no challenge.',
        advice: 'RFC 9110 §11.6.1 requires one. With errors: normalized, Portico adds it.',
      },
    challenges.length > 0 &&
      !SCHEMES.some((name) => words.has(name.toLowerCase())) && {
        severity: 'high',
        text: `The server does not offer ${SCHEMES.join(' or ')} authentication.`,
        advice: `Portico verifies only ${SCHEMES.join(' or ')} credentials. In observe, it forwards other credentials unchecked.`,
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
async function verifierFindings(context: ProbeContext, listPath: string): Promise<VerifierResult> {
  const { client, list, profile } = context;
  const { probePath } = profile;
  const name = `portico-doctor-${randomBytes(6).toString('hex')}`;
  const authorization = toAuthorization(name, randomBytes(12).toString('hex'));
  const distinguishes = async (path: string, valid: readonly number[]) => {
    const wrong = (await respond(client, { path, credential: { authorization } })).status;
    const right = client.hasCredential ? (await respond(client, { path })).status : undefined;
    const isUsable = !valid.includes(wrong) && (right === undefined || valid.includes(right));
    return { wrong, right, isUsable };
  };
  const { wrong, right, isUsable } = await distinguishes(probePath, VALID);
  const seen = `A made-up credential gets ${wrong}${right === undefined ? '' : `, and yours gets ${right}`} from ${probePath}.`;
  if (isUsable) {
    const names = await nameFindings(context, probePath, VALID);
    return { ...names, facts: [seen, ...names.facts] };
  }
  const other = list === undefined ? undefined : await distinguishes(listPath, [200]);
  if (other?.isUsable === true && other.right !== undefined) {
    const names = await nameFindings(context, listPath, [200]);
    return {
      facts: [seen, ...names.facts],
      findings: names.findings,
      recommendations: [
        ...names.recommendations,
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
  }
  return {
    facts: [seen],
    findings: [
      {
        severity: 'high',
        text: `A made-up credential cannot be told from a valid one: it gets ${wrong} from ${probePath}.`,
        advice:
          'The verifier upstream would not be safe. Set authentication.probe to a path that needs a valid account.',
      },
    ],
    recommendations: [],
  };
}

/**
 * Determines whether the server ignores case in user names, by sending the operator's own password with the name in
 * another case to a path that distinguishes credentials.
 */
async function nameFindings(
  { client, authorization }: ProbeContext,
  path: string,
  valid: readonly number[],
): Promise<VerifierResult> {
  const { name = '', password = '' } = parseBasicCredentials(authorization ?? '') ?? {};
  const other = [name.toUpperCase(), name.toLowerCase()].find((one) => one !== name);
  if (other === undefined) return { facts: [], findings: [], recommendations: [] };
  const credential = { authorization: toAuthorization(other, password) };
  const { status } = await respond(client, { path, credential });
  if (!valid.includes(status))
    return { facts: [`Your name in another case gets ${status}.`], findings: [], recommendations: [] };
  return {
    facts: [`Your name in another case gets ${status}, as your own spelling does.`],
    findings: [
      {
        severity: 'low',
        text: 'The server ignores case in user names.',
        advice:
          'With roles.names: exact, a caller who writes the name of an account in another case is denied. With ignoreCase, the caller has the roles of the account.',
      },
    ],
    recommendations: [
      {
        key: 'roles.names',
        value: 'ignoreCase',
        reason: 'The server ignores case in user names, so the roles file has to ignore it, too.',
      },
    ],
  };
}
