import type { Feature } from '../../engine/feature.ts';
import { isClearAndPublic } from '../../lib/network-address.ts';
import { addCorsHeaders } from './add-cors-headers.ts';
import { options } from './options.ts';

/** Lets web pages from other origins use the public side (Fetch standard, 3.3). */
export const cors = {
  name: 'cors',
  options,
  needsRestart: true,
  check({ origins, credentials }, { mode }) {
    const any = origins.includes('*');
    return [
      // CORS adds headers to responses.
      ...(mode.transparent
        ? [
            {
              pointer: '/cors',
              message: `cannot be used in ${mode.name} mode, which does not change responses`,
              suggestion: 'mode: staging',
            },
          ]
        : []),
      ...(any && credentials
        ? [
            {
              pointer: '/cors/credentials',
              other: '/cors/origins',
              message: 'cannot be true with the origin *: every site could then act as the user',
              suggestion: 'list the origins',
            },
          ]
        : []),
      ...(any && origins.length > 1
        ? [{ pointer: '/cors/origins', message: 'contains *, so the other origins have no effect' }]
        : []),
      ...origins.flatMap((origin, index) => {
        if (origin === '*' || !URL.canParse(origin) || new URL(origin).origin === origin) return [];
        const suggestion = new URL(origin).origin;
        return [{ pointer: `/cors/origins/${index}`, message: 'is not the form that browsers send', suggestion }];
      }),
    ];
  },
  auditRules: [
    {
      id: 'cors-for-everyone',
      severity: 'medium',
      key: '/cors/origins',
      risk: 'Every website can read the API through a visitor’s browser, from inside the visitor’s network.',
      fix: 'List the origins of the pages that use the API.',
      find: ({ origins }) => origins.filter((origin) => origin === '*'),
    },
    {
      id: 'cors-in-the-clear',
      severity: 'medium',
      key: '/cors/origins',
      risk: 'These pages are loaded without encryption, so anyone on the network can add scripts that use the API.',
      fix: 'List only https origins.',
      find: ({ origins }) => origins.filter(isClearAndPublic),
    },
  ],
  start: (context) => ({ middleware: [addCorsHeaders(context.options)] }),
} as const satisfies Feature<typeof options>;
