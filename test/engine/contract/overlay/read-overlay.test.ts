import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyOverlays } from '../../../../src/engine/contract/overlay/apply-overlays.ts';
import { readOverlay } from '../../../../src/engine/contract/overlay/read-overlay.ts';
import { faultsOf, fileWith } from './overlay-file.ts';

const HEAD = 'overlay: 1.0.0\ninfo: { title: T, version: "1" }\n';
const ACTIONS = 'actions:\n  - target: $.info\n    update: { title: New }\n';

describe('reading an overlay', () => {
  it('accepts YAML, JSON and extensions that begin with x-', () => {
    const text = `${HEAD}extends: ./openapi.yaml\nx-by: me\n${ACTIONS}    x-evidence: { seen: 12 }\n    description: why\n`;
    const json = {
      overlay: '1.0.1',
      info: { title: 'T', version: '1', 'x-a': null },
      actions: [{ target: '$.info', update: { title: 'New' }, 'x-evidence': { seen: 12 } }],
    };
    const yaml = readOverlay(fileWith(text));
    expect(yaml.actions).toMatchObject([{ target: '$.info', update: { title: 'New' } }]);
    expect(yaml.text).toBe(text);
    expect(readOverlay(fileWith(JSON.stringify(json), 'overlay.json')).actions).toEqual(json.actions);
    expect(
      readOverlay(fileWith('{overlay: 1.0.0, info: {title: T, version: "1"}, actions: [{target: $, update: {}}]}'))
        .actions,
    ).toHaveLength(1);
  });

  const cases: readonly [
    what: string,
    text: string,
    faults: readonly (readonly [pointer: string, message: RegExp])[],
  ][] = [
    ['nothing', '', [['', /must be an object, not null/]]],
    ['a list', '[]', [['', /not an array/]]],
    ['broken YAML', 'overlay: [', [['', /open bracket/]]],
    [
      'aliases that expand without end',
      `a: &a [1,2,3,4,5,6,7,8,9]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]`,
      [['', /alias/i]],
    ],
    ['no version', `info: { title: T, version: "1" }\n${ACTIONS}`, [['/overlay', /is missing/]]],
    ['another version', `${HEAD.replace('1.0.0', '1.1.0')}${ACTIONS}`, [['/overlay', /not a supported version/]]],
    [
      'a version that is a number',
      `${HEAD.replace('1.0.0', '1.0')}${ACTIONS}`,
      [['/overlay', /not a supported version/]],
    ],
    ['no info', `overlay: 1.0.0\n${ACTIONS}`, [['/info', /title and version/]]],
    [
      'an info with a numeric version and no title',
      `overlay: 1.0.0\ninfo: { version: 1 }\n${ACTIONS}`,
      [
        ['/info/title', /is missing/],
        ['/info/version', /must be a string/],
      ],
    ],
    ['no actions', HEAD, [['/actions', /at least one action/]]],
    ['an empty list of actions', `${HEAD}actions: []`, [['/actions', /at least one action/]]],
    ['an action that is text', `${HEAD}actions: [x]`, [['/actions/0', /not a string/]]],
    ['an action that does nothing', `${HEAD}actions: [{ target: $.info }]`, [['/actions/0', /does nothing/]]],
    [
      'an action that removes nothing',
      `${HEAD}actions: [{ target: $.info, remove: false }]`,
      [['/actions/0', /does nothing/]],
    ],
    ['an action without a target', `${HEAD}actions: [{ update: {} }]`, [['/actions/0/target', /must be a JSONPath/]]],
    ['remove as text', `${HEAD}actions: [{ target: $.a, remove: "yes" }]`, [['/actions/0/remove', /true or false/]]],
    ['an unknown name', `${HEAD}${ACTIONS}    updaet: {}\n`, [['/actions/0/updaet', /is not allowed here/]]],
    ['an unknown name at the root', `${HEAD}${ACTIONS}action: []\n`, [['/action', /is not allowed here/]]],
    [
      'a target that is not a JSONPath expression',
      `${HEAD}actions: [{ target: "$.paths[", update: {} }]`,
      [['/actions/0/target', /^is not a JSONPath expression$/]],
    ],
    [
      'a target without a root',
      `${HEAD}actions: [{ target: paths, update: {} }]`,
      [['/actions/0/target', /not a JSONPath/]],
    ],
    [
      'a function that JSONPath does not have',
      `${HEAD}actions: [{ target: "$.a[?foo(@.b)]", update: {} }]`,
      [['/actions/0/target', /not a JSONPath/]],
    ],
    [
      '__proto__ in YAML',
      `${HEAD}actions: [{ target: $.info, update: { a: [ { __proto__: { polluted: 1 } } ] } }]`,
      [['/actions/0/update/a/0/__proto__', /forbidden name/]],
    ],
    [
      'unlimited nesting',
      `${HEAD}actions: [{ target: $.info, update: ${'['.repeat(80)}${']'.repeat(80)} }]`,
      [[expect.stringMatching(/^\/actions\/0\/update(\/0){65}$/) as string, /levels deep/]],
    ],
    [
      'everything wrong at once',
      'overlay: 2.0.0\ninfo: 1\nactions: [{ target: x, update: {} }, 5]',
      [
        ['/overlay', /not a supported version/],
        ['/info', /object/],
        ['/actions/0/target', /JSONPath/],
        ['/actions/1', /object/],
      ],
    ],
  ];
  it.each(cases)('refuses %s', (_what, text, wanted) => {
    const file = fileWith(text);
    expect(faultsOf(() => readOverlay(file))).toMatchObject(
      wanted.map(([pointer, message]) => ({
        source: expect.stringContaining(file) as string,
        pointer,
        message: expect.stringMatching(message) as string,
      })),
    );
  });

  it('suggests the closest known name', () => {
    const faults = faultsOf(() => readOverlay(fileWith(`${HEAD}${ACTIONS}    updaet: {}\n`)));
    expect(faults).toMatchObject([{ suggestion: 'update' }]);
    expect(faultsOf(() => readOverlay(fileWith('overlay: 1.1.0')))[0]).toMatchObject({
      suggestion: 'write overlay: 1.0.0',
    });
  });

  it.each([
    ['overlay: 1.0.0\ninfo: { titel: T, version: "1" }\n', '/info/titel'],
    ['overlay: 1.0.0\nifo: { title: T, version: "1" }\n', '/ifo'],
    ['overly: 1.0.0\ninfo: { title: T, version: "1" }\n', '/overly'],
  ])('has only one error for a misspelled key: %s', (head, pointer) => {
    expect(faultsOf(() => readOverlay(fileWith(head + ACTIONS)))).toMatchObject([{ pointer }]);
  });

  it.each(['taget: $, update: {}', 'target: $, updat: {}', 'target: $, remov: true'])(
    'has only one error for a misspelled key of an action: %s',
    (action) => {
      const faults = faultsOf(() => readOverlay(fileWith(`${HEAD}actions: [{ ${action} }]\n`)));
      expect(faults).toMatchObject([{ message: expect.stringContaining('is not allowed here') as string }]);
    },
  );

  it('has only one error for misspelled actions', () => {
    expect(faultsOf(() => readOverlay(fileWith(`${HEAD}${ACTIONS.replace('actions', 'action')}`)))).toMatchObject([
      { pointer: '/action' },
    ]);
  });

  it('refuses a missing file and a file that is too large', () => {
    const file = join(fileWith(''), 'absent.yaml');
    expect(faultsOf(() => readOverlay(file))).toMatchObject([
      { source: file, message: 'the overlay cannot be read: a part of the path is not a folder (ENOTDIR)' },
    ]);
    const large = fileWith(`${HEAD}${ACTIONS}${'# a comment\n'.repeat(100_000)}`);
    expect(faultsOf(() => readOverlay(large))).toMatchObject([
      { source: large, message: expect.stringContaining('the maximum is') as string },
    ]);
  });

  it.each(['__proto__', 'constructor'])('changes no object of the program through %s', (name) => {
    const text = `{"overlay":"1.0.0","info":{"title":"T","version":"1"},"actions":[{"target":"$","update":{"${name}":{"polluted":1,"prototype":{"polluted":1}}}}]}`;
    faultsOf(() => applyOverlays({ a: 1 }, [fileWith(text)]));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(Object.hasOwn(Object, 'polluted')).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
