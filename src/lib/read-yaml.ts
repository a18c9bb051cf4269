import { type Document, LineCounter, parseDocument, visit, type YAMLError } from 'yaml';
import { aliasMessage, isFollowedByOthers, yamlMessage } from './yaml-message.ts';

/** An error in the syntax of a YAML text. The message never quotes the text, and its subject is the line. */
interface YamlFault {
  /** Undefined if the error concerns the whole text. */
  readonly line: number | undefined;
  readonly message: string;
}

/** A YAML text that has been read, or the errors in its syntax. */
type YamlReading =
  | {
      readonly errors: readonly [YamlFault, ...YamlFault[]];
      readonly document?: undefined;
    }
  | {
      readonly errors?: undefined;
      readonly value: unknown;
      /** The document from which the value was created. It also contains the comments and positions. */
      readonly document: Document;
      /** Returns the line of an offset in the text. The first line is 1. */
      readonly lineAt: (offset: number) => number;
    };

/** The maximum number of values that aliases may add. A few lines could otherwise expand to gigabytes. */
const MAX_ALIASES = 100;

/**
 * Parses a text that contains one YAML document. JSON is YAML, too. After an error in the structure of the text, a
 * parser guesses how the text continues, so the errors that follow may be untrue and are omitted.
 */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const problems = [...document.errors, ...document.warnings].toSorted((a, b) => a.pos[0] - b.pos[0]);
  const structural = problems.find(isFollowedByOthers);
  const [first, ...others] = (structural === undefined ? problems : [structural]).map((problem) => ({
    line: lineAt(startOf(problem, document)),
    message: yamlMessage(problem),
  }));
  if (first !== undefined) return { errors: [first, ...others] };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown, document, lineAt };
  } catch (error) {
    const unresolved = unresolvedAlias(document);
    const line = unresolved === undefined ? undefined : lineAt(unresolved);
    return { errors: [{ line, message: aliasMessage(error) }] };
  }
}

/** Returns the offset of an error. A string without a closing quote is found at its end, which may be far away. */
function startOf({ message, pos }: YAMLError, document: Document): number {
  let start = pos[0];
  if (message.startsWith('Missing closing'))
    visit(document, {
      Scalar(_key, { type, range }) {
        if (type?.startsWith('QUOTE') === true && range && range[0] < pos[0] && range[1] >= pos[0]) start = range[0];
      },
    });
  return start;
}

/** Returns the offset of the first alias without an anchor, or undefined if there is none. */
function unresolvedAlias(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      found = alias.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}
