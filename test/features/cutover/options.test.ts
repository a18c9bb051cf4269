import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/portico-settings.ts';
import { operationProblems } from '../../../src/features/cutover/options.ts';
import { contract } from '../../builders/compiled-contract.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const URL = 'https://qa-new.example.org';
const faultsOf = (cutover: object, upstream: object = {}) =>
  readSettings({
    env: {},
    cwd: tempFolder(),
    given: {
      mode: 'strict',
      upstream: { url: 'https://qa.example.org', ...upstream },
      cutover: { url: URL, operations: { '*': { share: 0, writes: false } }, ...cutover },
    },
  }).faults.map(({ pointer, message }) => `${pointer} ${message}`);

describe('the options of the cut-over', () => {
  it('are accepted with little more than an address', () => {
    expect(faultsOf({})).toEqual([]);
  });

  it.each([
    [{ url: 'https://qa.example.org/' }, '/cutover/url is the address of the upstream itself'],
    [{ url: 'qa-new' }, '/cutover/url is not an absolute URL'],
    [{ operations: { '*': { share: 0, writes: true } } }, '/cutover/operations/*/writes is not possible for *'],
    [{ allow: ['ann'], deny: ['ann'] }, '/cutover/allow/0 is also in cutover.deny'],
    [
      {
        steps: [
          { share: 20, afterSeconds: 60 },
          { share: 10, afterSeconds: 60 },
        ],
      },
      '/cutover/steps/1/share must be higher than that of the step before',
    ],
    [
      { upstream: { alternates: ['https://other.example.org/prefix'] } },
      '/cutover/upstream/alternates/0 must have the path prefix of cutover.url',
    ],
  ])('are refused if they contradict each other: %j', (cutover, fault) => {
    expect(faultsOf(cutover)).toEqual([fault]);
  });

  it('need an account of the new server if the old one has a service account', () => {
    const credentials = { kind: 'service', username: 'portico', password: 'a long password' };
    expect(faultsOf({}, { credentials }).filter((one) => one.startsWith('/cutover'))).toEqual([
      '/cutover/username is required, because upstream.credentials is a service account',
      '/cutover/passwordFile is required, because upstream.credentials is a service account',
    ]);
  });

  it('name operations of the contract, and writing ones only with writes', () => {
    const problems = (operations: object) => operationProblems({ operations } as never, contract.operations);
    expect(problems({ '*': {}, undocumented: {}, listIdeas: {}, createComment: { writes: true } })).toEqual([]);
    expect(problems({ listIdea: {}, createComment: { writes: false }, other: {} })).toEqual([
      {
        pointer: '/cutover/operations/listIdea',
        message: 'is not an operation of the contract',
        suggestion: 'did you mean listIdeas?',
      },
      { pointer: '/cutover/operations/createComment', message: 'writes, and takes part only with writes: true' },
      {
        pointer: '/cutover/operations/other',
        message: 'is not an operation of the contract',
        suggestion: 'inferred operations need contract.inferred: on',
      },
    ]);
  });
});
