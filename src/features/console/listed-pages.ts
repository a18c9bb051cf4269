import type { OperatorPage } from '../../engine/http/operator-page.ts';
import type { ConsoleSources } from './console-sources.ts';

/** A page as the menu lists it. */
export interface ListedPage extends Pick<OperatorPage, 'name' | 'title' | 'position'> {
  readonly showsOperation: boolean;
  readonly notice: string | undefined;
}

/** The pages about the engine. Their data are in `create-api.ts`. */
const OWN_PAGES = [
  { name: 'traffic', title: 'Traffic', position: 10, showsOperation: true },
  { name: 'permissions', title: 'Permissions', position: 40 },
  { name: 'cache', title: 'Cache', position: 50 },
  { name: 'upstream', title: 'Upstream', position: 60 },
  { name: 'fleet', title: 'Fleet', position: 70 },
  { name: 'configuration', title: 'Configuration', position: 80 },
];

/** Returns all pages of the console, in the order of the menu. */
export function listedPages({ pages, sharing }: Pick<ConsoleSources, 'pages' | 'sharing'>): readonly ListedPage[] {
  const isShared = sharing.status() !== undefined;
  const own = OWN_PAGES.filter(({ name }) => isShared || name !== 'fleet');
  return [...own, ...pages()]
    .toSorted((a, b) => a.position - b.position)
    .map((page) => {
      const { name, title, position, showsOperation = false } = page;
      return { name, title, position, showsOperation, notice: 'notice' in page ? page.notice?.() : undefined };
    });
}
