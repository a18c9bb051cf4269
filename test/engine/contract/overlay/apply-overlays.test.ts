import { describe, expect, it } from 'vitest';
import { MAX_ADDED_VALUES, applyOverlays } from '../../../../src/engine/contract/overlay/apply-overlays.ts';
import type { OverlayAction } from '../../../../src/engine/contract/overlay/read-overlay.ts';
import { faultsOf, overlayFile } from './overlay-file.ts';

const PETS = {
  info: { title: 'Pets', version: '1', tags: ['a', 'b'] },
  paths: {
    '/pets': {
      get: {
        summary: 'List',
        parameters: [
          { name: 'dummy', in: 'query' },
          { name: 'filter', in: 'query' },
        ],
      },
      post: { summary: 'Add' },
    },
    '/pets/{id}': {
      get: {
        summary: 'One',
        parameters: [
          { name: 'id', in: 'path' },
          { name: 'dummy', in: 'query' },
        ],
      },
    },
  },
};

const applied = (...actions: readonly OverlayAction[]) => applyOverlays(PETS, [overlayFile(...actions)]);
const [dummy, filter] = PETS.paths['/pets'].get.parameters;

describe('an overlay', () => {
  const cases: readonly [
    what: string,
    actions: readonly OverlayAction[],
    target: string,
    values: readonly unknown[],
  ][] = [
    ['replaces a primitive member', [{ target: '$.info', update: { title: 'Animals' } }], '$.info.title', ['Animals']],
    ['leaves the other members', [{ target: '$.info', update: { title: 'Animals' } }], '$.info.version', ['1']],
    ['adds a member', [{ target: '$.info', update: { license: { name: 'MIT' } } }], '$.info.license.name', ['MIT']],
    [
      'merges objects at every depth',
      [{ target: '$', update: { paths: { '/pets': { get: { summary: 'All' } } } } }],
      "$.paths['/pets'].get",
      [{ summary: 'All', parameters: [dummy, filter] }],
    ],
    [
      'appends the elements of an array in a merged object',
      [{ target: '$.info', update: { tags: ['c', 'a'] } }],
      '$.info.tags',
      [['a', 'b', 'c', 'a']],
    ],
    ['appends its update to a selected array', [{ target: '$.info.tags', update: 'c' }], '$.info.tags[2]', ['c']],
    [
      'appends an array as one entry',
      [{ target: '$.info.tags', update: ['c', 'd'] }],
      '$.info.tags',
      [['a', 'b', ['c', 'd']]],
    ],
    ['appends null to an array too', [{ target: '$.info.tags', update: null }], '$.info.tags', [['a', 'b', null]]],
    [
      'replaces a primitive with an array',
      [{ target: '$.info', update: { version: ['1', '2'] } }],
      '$.info.version',
      [['1', '2']],
    ],
    ['replaces a primitive with null', [{ target: '$.info', update: { version: null } }], '$.info.version', [null]],
    [
      'does not change an object or an array if the update is null',
      [{ target: '$', update: { info: null, paths: { '/pets': { post: null } } } }],
      "$.paths['/pets'].post.summary",
      ['Add'],
    ],
    [
      'removes an object',
      [{ target: "$.paths['/pets'].post", remove: true }],
      "$.paths['/pets'].*",
      [PETS.paths['/pets'].get],
    ],
    ['removes an array', [{ target: '$.info.tags', remove: true }], '$.info', [{ title: 'Pets', version: '1' }]],
    [
      'removes every match of a filter, in every array',
      [{ target: "$.paths.*.get.parameters[?@.name=='dummy']", remove: true }],
      '$.paths.*.get.parameters[*].name',
      ['filter', 'id'],
    ],
    [
      'removes several elements of one array even though their indices change',
      [{ target: "$.paths['/pets'].get.parameters[*]", remove: true }],
      "$.paths['/pets'].get.parameters",
      [[]],
    ],
    [
      'removes an element that is selected twice only once',
      [{ target: "$.paths['/pets'].get.parameters[0,0]", remove: true }],
      "$.paths['/pets'].get.parameters",
      [[filter]],
    ],
    [
      'removes nested matches together with the value around them',
      [{ target: '$..get', remove: true }],
      '$.paths.*',
      [{ post: { summary: 'Add' } }, {}],
    ],
    [
      'gives remove precedence over update',
      [{ target: '$.info.tags', update: 'c', remove: true }],
      '$.info',
      [{ title: 'Pets', version: '1' }],
    ],
    [
      'does not remove with remove: false',
      [{ target: '$.info', update: { title: 'x' }, remove: false }],
      '$.info.title',
      ['x'],
    ],
    [
      'changes every node that a wildcard selects',
      [{ target: '$.paths.*.get', update: { 'x-safe': true } }],
      '$.paths.*.get.x-safe',
      [true, true],
    ],
    [
      'changes the nodes that a filter with two conditions selects',
      [
        {
          target: "$.paths.*.get.parameters[?@.name=='filter' && @.in=='query']",
          update: { schema: { type: 'string' } },
        },
      ],
      '$..schema',
      [{ type: 'string' }],
    ],
    [
      'changes descendants',
      [{ target: "$..parameters[?@.in=='path']", update: { required: true } }],
      '$..required',
      [true],
    ],
    [
      'applies its actions in order, each to the result of the previous one',
      [
        { target: '$.info.tags', remove: true },
        { target: '$.info', update: { tags: ['new'] } },
        { target: '$.info.tags', update: 'newer' },
      ],
      '$.info.tags',
      [['new', 'newer']],
    ],
    [
      'can select values that an earlier action added',
      [
        { target: '$.paths.*.get.parameters', update: { name: 'new', in: 'query' } },
        { target: "$..parameters[?@.name=='new']", update: { seen: true } },
      ],
      '$..seen',
      [true, true],
    ],
  ];

  it.each(cases)('%s', async (_what, actions, target, result) => {
    const { jsonpath } = await import('json-p3');
    const { document, warnings } = applied(...actions);
    const values = jsonpath.query(target, document as never).values();
    expect(values).toEqual(result);
    expect(warnings).toEqual([]);
  });

  it('does not change the original document', () => {
    const before = structuredClone(PETS);
    applied({ target: '$..*[?@.name]', remove: true }, { target: '$.paths', remove: true });
    expect(PETS).toEqual(before);
  });

  it('adds a separate copy to each node', () => {
    const { document } = applied(
      { target: '$.paths.*.get', update: { 'x-own': { list: [] } } },
      { target: "$.paths['/pets'].get.x-own.list", update: 1 },
    );
    expect(document).toMatchObject({
      paths: { '/pets': { get: { 'x-own': { list: [1] } } }, '/pets/{id}': { get: { 'x-own': { list: [] } } } },
    });
  });

  it('warns about a target that selects nothing', () => {
    const file = overlayFile({ target: '$.info', update: {} }, { target: "$.paths['/pest'].get", update: {} });
    expect(applyOverlays(PETS, [file])).toMatchObject({
      document: PETS,
      warnings: [
        {
          source: file,
          pointer: '/actions/1/target',
          message: "selects nothing: $.paths['/pest'].get",
        },
      ],
    });
  });

  it('is applied to the result of the previous overlay', () => {
    const first = overlayFile({ target: '$.info', update: { title: 'First', x: 1 } });
    const second = overlayFile({ target: "$[?@.title=='First']", update: { title: 'Second' } });
    expect(applyOverlays(PETS, [first, second]).document).toMatchObject({ info: { title: 'Second', x: 1 } });
    expect(applyOverlays(PETS, [second, first]).document).toMatchObject({ info: { title: 'First', x: 1 } });
  });

  const refused: readonly [what: string, action: OverlayAction, pointer: string, message: RegExp][] = [
    [
      'a primitive to update',
      { target: '$.info.title', update: { a: 1 } },
      '/actions/0/target',
      /selects a string at \/info\/title/,
    ],
    [
      'a primitive to remove',
      { target: '$.info.title', remove: true },
      '/actions/0/target',
      /must select objects or arrays/,
    ],
    [
      'primitives among the nodes that a wildcard selects',
      { target: '$.info.*', update: {} },
      '/actions/0/target',
      /selects a string/,
    ],
    [
      'text for an object',
      { target: '$.info', update: 'text' },
      '/actions/0/update',
      /must be an object .* not a string/,
    ],
    ['an array for an object', { target: '$.info', update: ['a'] }, '/actions/0/update', /not an array/],
    [
      'text over an array',
      { target: '$.info', update: { tags: 'c' } },
      '/actions/0/update/tags',
      /a string cannot be merged with an array/,
    ],
    [
      'an array over an object, once for all nodes',
      { target: '$.paths.*', update: { get: ['x'] } },
      '/actions/0/update/get',
      /an array cannot be merged with an object/,
    ],
    ['the removal of everything', { target: '$', remove: true }, '/actions/0/remove', /whole contract/],
  ];
  it.each(refused)('refuses %s', (_what, action, pointer, message) => {
    const file = overlayFile(action);
    const faults = faultsOf(() => applyOverlays(PETS, [file]));
    expect(faults).toMatchObject([{ source: file, pointer, message: expect.stringMatching(message) as string }]);
  });

  it('reports the configuration errors of all actions and all overlays in one run', () => {
    const one = overlayFile({ target: '$.info', update: 1 }, { target: '$', remove: true });
    const two = overlayFile({ target: '$.info.title', remove: true });
    expect(faultsOf(() => applyOverlays(PETS, [one, two])).map(({ source, pointer }) => [source, pointer])).toEqual([
      [one, '/actions/0/update'],
      [one, '/actions/1/remove'],
      [two, '/actions/0/target'],
    ]);
  });

  it('cannot add an unlimited number of values to the contract', () => {
    const doubling: OverlayAction = { target: '$..*[?@]', update: { a: { b: {} }, c: { d: {} } } };
    const spread: OverlayAction = { target: '$.paths.*', update: { x: Array.from({ length: 1000 }, () => ({})) } };
    const actions = Array.from({ length: Math.ceil(MAX_ADDED_VALUES / 2000) }, () => spread);
    const faults = faultsOf(() => applied(...actions));
    expect(faults[0]).toMatchObject({ message: `adds more than ${MAX_ADDED_VALUES} values to the contract` });
    expect(faultsOf(() => applied(doubling)).length).toBeLessThan(2);
  });
});
