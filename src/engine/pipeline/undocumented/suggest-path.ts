import { closestName } from '../../../lib/closest-name.ts';
import { plainPath } from './path-matching.ts';

/** Returns the documented path that a client probably meant, as a template, or undefined if none is similar. */
export type SuggestPath = (path: string) => string | undefined;

/**
 * Compiles the suggestions for undocumented paths. A template is similar if it has as many segments as the path, and each
 * of its fixed segments differs from the path's only by case or a few letters, such as a missing `.json`. The result is
 * the template, because the ids in a path may identify people.
 */
export function compileSuggestPath(templates: readonly string[]): SuggestPath {
  const known = templates.map((template) => ({ template, segments: template.split('/') }));
  return (path) => {
    const given = plainPath(path)?.split('/');
    if (given === undefined) return undefined;
    const likely = known.flatMap(({ template, segments }) => {
      if (segments.length !== given.length) return [];
      const same = segments.map((segment, index) => sameness(segment, given[index] ?? ''));
      return same.includes(0) ? [] : [{ template, sum: same.reduce((sum, one) => sum + one, 0) }];
    });
    return likely.toSorted((a, b) => b.sum - a.sum)[0]?.template;
  };
}

/** Returns 2 if a segment is the template's, 1 if it may be a placeholder's value, or is similar, and otherwise 0. */
function sameness(segment: string, given: string): number {
  if (segment === given) return 2;
  return segment.startsWith('{') || closestName(given, [segment]) !== undefined ? 1 : 0;
}
