import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESCAPES_PER_VALUE, type JsonLimits } from '../../lib/bounded-json.ts';
import type { ScannedDifferences } from '../model/violation.ts';
import { createTableCompiler, createTableMemory, growTo, type ModuleMemory, toExcerptTree } from './compile-tables.ts';
import type { PlacedSchema, SchemasByPath } from '../contract/schema-alternatives.ts';
import { createReadDifferences, readExcerpt } from './read-excerpt.ts';
import * as layout from './table-layout.ts';

/** The result of scanning a valid body. */
interface ScannedBody {
  /** The body, reduced to the members on the excerpt's paths. */
  readonly excerpt: unknown;
  /** The differences between the body and the contract. Bodies with the same differences share the same object. */
  readonly differences: ScannedDifferences;
  /**
   * False if no string in the body contains a colon followed by a plain or escaped slash, in which case the body
   * contains no absolute address.
   */
  readonly hasAddress: boolean;
}

/** Checks bodies against one schema. */
export interface Scanner {
  /**
   * Returns the excerpt and the differences if the scan has proved that the body is valid. Returns undefined if the
   * body must be parsed and validated.
   */
  readonly scan: (body: Buffer) => ScannedBody | undefined;
}

/** The schema that a scanner checks, and the excerpt that the scanner returns. */
export interface ScannerSource {
  readonly schemas: SchemasByPath;
  readonly schema: PlacedSchema;
  /** JSON pointers to the members of the excerpt, such as `/list/*\/id`. `*` stands for every element of an array. */
  readonly excerpt: readonly string[];
}

/** Compiles scanners that share one module and its memory. */
export interface ScannerModule {
  /** Compiles the tables of a schema. Throws `UnsupportedSchema` if the scanner cannot check it. */
  readonly compile: (source: ScannerSource) => Scanner;
}

/** The maximum size, in bytes, of a body that is scanned. */
const MAX_BODY = 1024 * 1024;
/**
 * The maximum nesting depth of a body that is scanned. The module is recursive, so this limits the size of its stack.
 */
const MAX_DEPTH = 60;

const MODULE = join(import.meta.dirname, 'scanner.wasm');

/** A Node global that is missing from Node's type definitions. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

const viewsOf = (buffer: ArrayBuffer) => ({
  bytes: new Uint8Array(buffer),
  integers: new Uint32Array(buffer),
  numbers: new Float64Array(buffer),
});

/** The exports of the module in tools/scanner/module/scan.ts. */
interface ModuleExports {
  readonly memory: ModuleMemory;
  readonly scan: (node: number, from: number, to: number, maxDepth: number) => number;
}

/**
 * Loads the module. Bodies that exceed `limits` are never reported as valid.
 *
 * A scanner proves in a single pass over the bytes, without creating objects, that a body is JSON and satisfies its
 * schema. It never decides that a body is invalid. When in doubt, the gateway parses and validates the body as if there
 * were no scanner, so all verdicts and reports come from one source. docs/adr/0028-response-scanner.md explains the
 * decision.
 */
export function openScanner(limits: JsonLimits): ScannerModule {
  const module = new WebAssembly.Module(readFileSync(MODULE));
  const { memory, scan } = new WebAssembly.Instance(module).exports as ModuleExports;
  const tables = createTableMemory(memory);
  const compile = createTableCompiler(tables);
  const maxDepth = Math.min(MAX_DEPTH, limits.depth);
  // An escape has at least two bytes, so a body of this size cannot contain too many escapes.
  const maxBody = Math.min(MAX_BODY, limits.values * ESCAPES_PER_VALUE * 2);
  let views = viewsOf(memory.buffer);

  return {
    compile({ schemas, schema, excerpt }) {
      const { root, names, ...recorded } = compile(schemas, schema, toExcerptTree(excerpt));
      const readDifferences = createReadDifferences(recorded);
      return {
        scan(body) {
          const { length } = body;
          if (length > maxBody) return undefined;
          const start = tables.end;
          // Adding a table or scanning a longer body can grow the memory, in which case the buffer is replaced.
          if (start + length + layout.PADDING > views.bytes.length) {
            growTo(memory, start + length + layout.PADDING);
            views = viewsOf(memory.buffer);
          }
          views.bytes.set(body, start);
          if (scan(root, start, start + length, maxDepth) === 0) return undefined;
          const { integers } = views;
          // In a body that is not valid UTF-8, the parser would replace bytes, so the parsed value would differ from
          // the bytes that were scanned.
          const isPlain = integers[layout.RESULT_BEYOND_ASCII / 4] === 0;
          if (!isPlain && !isUtf8(body)) return undefined;
          // Every 64 bytes of the body count as one more value, so that long numbers and white space also count toward
          // the limit.
          const values = (integers[layout.RESULT_VALUES / 4] as number) + (length >>> 6);
          if (values > limits.values) return undefined;
          const texts = { body, start, encoding: isPlain ? 'latin1' : 'utf8' } as const;
          const value = readExcerpt(views, texts, names);
          const hasAddress = integers[layout.RESULT_ADDRESS / 4] !== 0;
          const differences = readDifferences(views, texts);
          return differences && { excerpt: value, differences, hasAddress };
        },
      };
    },
  };
}
