import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { MAX_SEGMENTS, PLACEHOLDER } from '../paths.ts';
import { CONTRACT_SOURCE } from '../contract-files.ts';
import type { OpenApiDocument } from '../openapi-document.ts';
import { resourceFile } from '../contract-files.ts';

/** Checks that every path can match requests and that no other path matches the same ones. */
export function checkPaths(paths: readonly string[]): Fault[] {
  const shapes = new Map<string, string>();
  return paths.flatMap((path) => {
    const pointer = `/paths/${escapePointer(path)}`;
    if (!path.startsWith('/')) return [fault(pointer, 'must begin with a slash')];
    const segments = path.slice(1).split('/');
    if (segments.length >= MAX_SEGMENTS) return [fault(pointer, `has more than ${MAX_SEGMENTS - 1} segments`)];
    const odd = segments.find((segment) => /[{}]/.test(segment.replace(PLACEHOLDER, '$2')));
    if (odd !== undefined) return [fault(pointer, 'a segment can contain one placeholder, at its start')];
    const shape = segments.map((segment) => segment.replace(PLACEHOLDER, '{}$2')).join('/');
    const other = shapes.get(shape);
    shapes.set(shape, path);
    return other === undefined ? [] : [fault(pointer, `matches the same requests as ${other}`)];
  });
}

/** Checks that the generated files of all resources have different names. */
export function checkResourceNames({ components }: Pick<OpenApiDocument, 'components'>): Fault[] {
  const files = new Map<string, string>();
  return Object.keys(components.schemas).flatMap((name) => {
    const pointer = `/components/schemas/${escapePointer(name)}`;
    if (!/^[A-Za-z]\w*$/.test(name)) return [fault(pointer, 'must have a name of letters, digits and _')];
    const file = resourceFile(name);
    const other = files.get(file);
    files.set(file, name);
    return other === undefined ? [] : [fault(pointer, `differs from ${other} only in upper and lower case`)];
  });
}

function fault(pointer: string, message: string): Fault {
  return { source: CONTRACT_SOURCE, pointer, message };
}
