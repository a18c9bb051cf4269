import { flushCompileCache } from 'node:module';
import { REPORT_FORMATS } from '../../workbench/report/formats.ts';
import type { ProgramCommand } from '../program.ts';
import { CONFIG_FLAGS } from '../flags/config-flags.ts';
import { PASSWORD_FILE_FLAG, USER_FLAG } from '../flags/credentials.ts';
import { FAIL_FLAGS } from '../flags/fail-flags.ts';
import { DELAY_FLAG, ID_FLAG } from '../flags/walk-flags.ts';
import { useFlagsForComparing } from '../v8-flags.ts';

/** The `portico compare` command sends the same requests to two servers, and reports what differs in the responses. */
export const compareCommand: ProgramCommand = {
  name: 'compare',
  summary: 'Compare two servers: send the same safe requests to both, and report what differs',
  args: 'OLD NEW',
  argCount: [2, 2],
  flags: [
    ...CONFIG_FLAGS.filter(({ name }) => name === 'config'),
    {
      name: 'from',
      value: 'SOURCE',
      help: 'An access log, a HAR file, a log with JSON lines, or ledger; by default the walk of portico check.',
    },
    { name: 'repeat', help: 'Send a request of the file as often as it occurs; once by default.' },
    { name: 'undocumented', help: 'Send GET requests of the source for undocumented paths, too.' },
    USER_FLAG,
    PASSWORD_FILE_FLAG,
    { name: 'credential-host', value: 'HOST', help: 'The host of NEW, which may receive the credential of --user.' },
    { name: 'callers', value: 'FILE', help: 'File of callers for whom both servers are asked, one per role.' },
    {
      name: 'accounts',
      value: 'SIDE',
      choices: ['old', 'new'],
      help: 'If OLD and NEW are the same server: which accounts of --callers belong to it.',
    },
    { name: 'ids', value: 'SOURCE', help: 'same, learn, or a file of id pairs (kind,old,new); same by default.' },
    { name: 'save-ids', value: 'FILE', help: 'File for the learned id pairs.' },
    { name: 'noise', value: 'FILE', help: 'File of rules for values that change by themselves.' },
    {
      name: 'propose-noise',
      value: 'FILE',
      help: 'File for rules about the values that differ, if OLD and NEW are the same server.',
    },
    { name: 'old-address', value: 'URL', multiple: true, help: 'Another address under which OLD knows itself.' },
    { name: 'new-address', value: 'URL', multiple: true, help: 'Another address under which NEW knows itself.' },
    { name: 'old-zone', value: 'ZONE', help: 'Time zone of OLD’s dates, such as Europe/Berlin; UTC by default.' },
    { name: 'new-zone', value: 'ZONE', help: 'Time zone of NEW’s dates; UTC by default.' },
    ID_FLAG,
    { name: 'max-requests', value: 'NUMBER', help: 'Maximum number of requests of the walk; 500 by default.' },
    { name: 'all-pages', help: 'Walk all pages of the lists, so that no item is left undecided.' },
    DELAY_FLAG,
    { name: 'concurrency', value: 'NUMBER', help: 'Requests at the same time, 1 to 32; 1 by default.' },
    { name: 'timeout', value: 'SECONDS', help: 'Timeout for each request; the configured timeouts by default.' },
    {
      name: 'ask-again',
      value: 'MS',
      help: 'Wait before both are asked again about a difference; 500 by default, 0 for never.',
    },
    { name: 'resume', value: 'FILE', help: 'File from which an interrupted comparison continues.' },
    {
      name: 'format',
      value: 'FORMAT',
      choices: [...REPORT_FORMATS.keys()],
      help: `${[...REPORT_FORMATS.keys()].join(', ')}; table by default.`,
    },
    { name: 'output', value: 'FILE', help: 'File for the report; standard output (-) by default.' },
    {
      name: 'ledger',
      value: 'FILE',
      help: 'Ledger to which the differences are added, for portico report --ledger FILE.',
    },
    ...FAIL_FLAGS,
    { name: 'accept-repairs', help: 'Accept the differences where only OLD violates the contract, in the baseline.' },
    { name: 'owner', value: 'NAME', help: 'Who is responsible for the accepted repairs.' },
    { name: 'reason', value: 'TEXT', help: 'Why they are accepted; "NEW conforms to the contract" by default.' },
    { name: 'expires', value: 'DAY', help: 'The last day on which they are accepted, as YYYY-MM-DD.' },
  ],
  notes: [
    'Example: portico compare https://qa.example.org https://qa-new.example.org --callers callers.yaml',
    'Example: portico compare https://qa.example.org https://qa.example.org --propose-noise noise.yaml',
    'Example: portico compare https://qa.example.org https://qa-new.example.org --from access.log --noise noise.yaml',
    '',
    'The command sends only GET requests. A server that responds with 429 or 503 is given the time it asks for. If OLD',
    'and NEW are the same, the command measures what differs between two calls of one server.',
    'The exit code is 1 if a --fail-on rule matches, if NEW shows a caller what OLD hides, if nothing was compared, if the',
    'comparison ends early, or if OLD never sends what was requested.',
  ],
  run: async (line, io) => {
    const { compareServers } = await import('../tasks/compare-servers.ts');
    // Compiled code that is stored later would depend on the flags.
    flushCompileCache();
    useFlagsForComparing();
    return compareServers(line, io);
  },
};
