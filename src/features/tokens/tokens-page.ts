import { join } from 'node:path';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import { ACTIONS, createTokensRouter, type RouteParts } from './tokens-routes.ts';

/** Returns the page that lists the tokens and lets operators change them. */
export const tokensPage = (parts: RouteParts): OperatorPage => ({
  name: 'tokens',
  title: 'Tokens',
  position: 45,
  folder: join(import.meta.dirname, 'pages'),
  actions: ACTIONS,
  data: (guard) => createTokensRouter(parts, [guard]),
});
