import {
  type ContentObject,
  type OpenApiDocument,
  type OperationObject,
  resolve,
  type SchemaObject,
} from '../../contract/openapi-document.ts';
import type { Checks } from '../../model/checks.ts';
import type { Operation } from '../../model/operation.ts';
import { describeRequirement } from '../../pipeline/explain.ts';

/** What the description of the contract is made from. */
export interface DescribedSources {
  readonly contractVersion: string;
  readonly document: OpenApiDocument;
  /** The operations that the gateway serves. Inferred operations may be missing. */
  readonly operations: readonly Operation[];
  readonly checksFor: (operationId: string) => Checks;
  /** The path prefix that precedes `/services/v2`, or an empty string. */
  readonly publicBasePath: string;
}

/** An operation as the API docs show it. References in its schemas are not resolved. */
type DescribedOperation = ReturnType<typeof describeOperation>;

/** The contract as the API docs show it. */
interface DescribedContract {
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly publicBasePath: string;
  readonly groups: readonly {
    readonly name: string;
    readonly description: string;
    readonly operations: readonly DescribedOperation[];
  }[];
  readonly schemas: Readonly<Record<string, SchemaObject>>;
}

/** Optional members of an operation that only the API docs use. */
interface Prose {
  readonly tags?: readonly string[];
  readonly description?: string;
  readonly 'x-requires-provenance'?: string;
}

/**
 * Describes the contract for readers. The order of the groups is that of the document. References to parameters,
 * responses and examples are resolved.
 */
export function describeContract(sources: DescribedSources): DescribedContract {
  const { document, operations } = sources;
  const { info, tags = [] } = document as {
    info?: { title?: string; description?: string };
    tags?: readonly { name: string; description?: string }[];
  };
  const served = new Map(operations.map((operation) => [operation.id, operation]));
  const described = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap((source) => {
      const operation = served.get(source.operationId);
      return operation === undefined ? [] : [describeOperation(sources, operation, source)];
    }),
  );
  const names = [...new Set([...tags.map(({ name }) => name), ...described.map(({ group }) => group)])];
  return {
    version: sources.contractVersion,
    title: info?.title ?? 'Contract',
    description: info?.description ?? '',
    publicBasePath: sources.publicBasePath,
    groups: names
      .map((name) => ({
        name,
        description: tags.find((tag) => tag.name === name)?.description ?? '',
        operations: described.filter(({ group }) => group === name),
      }))
      .filter((group) => group.operations.length > 0),
    schemas: document.components.schemas,
  };
}

function describeOperation({ document, checksFor }: DescribedSources, operation: Operation, source: OperationObject) {
  const { tags, description, 'x-requires-provenance': requiresProvenance } = source as Prose;
  const { id, method, path, summary, row, since, provenance, needsCredential, paging, cacheability, purges } =
    operation;
  return {
    id,
    method,
    path,
    summary,
    description: description ?? '',
    group: tags?.[0] ?? 'other',
    row,
    since,
    provenance,
    needsCredential,
    needsFeature: operation.needsFeature,
    requires: describeRequirement(operation.requires),
    requiresProvenance: requiresProvenance ?? provenance,
    unknownParameters: operation.unknownParameters,
    identityIndependent: operation.identityIndependent,
    paging,
    cache: cacheability,
    purges,
    checks: checksFor(id),
    responseRules: operation.semanticRules.map(withText),
    requestRules: operation.requestRules.map(withText),
    parameters: (source.parameters ?? []).map((one) => resolve(document, 'parameters', one)),
    requestBody: source.requestBody && {
      required: source.requestBody.required ?? false,
      content: contentOf(document, source.requestBody.content),
    },
    responses: Object.entries(source.responses).map(([status, one]) => {
      const response = resolve(document, 'responses', one);
      return Object.assign({}, response, { status, content: contentOf(document, response.content) });
    }),
  };
}

const withText = (name: string) => ({ name, text: RULE_TEXTS[name] ?? '' });

function contentOf(document: OpenApiDocument, content: ContentObject) {
  return Object.entries(content).map(([mediaType, { examples = {}, ...rest }]) =>
    Object.assign(rest, {
      mediaType,
      examples: Object.entries(examples).map(([name, example]) =>
        Object.assign({ name }, resolve(document, 'examples', example)),
      ),
    }),
  );
}

/** The descriptions of the semantic rules, by rule name. docs/contract.md contains the same descriptions. */
const RULE_TEXTS: Readonly<Record<string, string>> = {
  'list-count': '`listCount` is the number of items in `list`.',
  'page-within-count': '`page` is at most `pageCount`, unless the list is empty or it is the first page.',
  'recipients-visibility': '`recipients` is present only with the visibility `recipients`.',
  'executions-when-finished': '`executions` is present if and only if the job is `FINISHED`.',
  'canceled-fields': 'A canceled action has `canceledByUser` and `canceledDate`.',
  'space-filter': "With `spaceId`, every item's `containerIds` contains that id.",
  'unfavorite-result': 'The action is canceled, its verb is `favorited`, and its node is the requested one.',
  'unwikify-result': 'The action is canceled, its verb is `wikified`, and its node is the requested one.',
  'action-page-size': 'There are at most 20 actions if no `pageSize` was requested.',
  'newest-first': 'The newest action comes first if no `sort` was requested.',
  'only-kbentry': 'Every item is a `kbentry`.',
  'only-ideas': 'Every item is an `idea`.',
  'only-comments': 'Every item is a `comment` or an `ideacomment`.',
  'gdpr-csv': 'The body contains CSV with the allowed columns and at least one filled cell in each row.',
  'comment-visibility': 'Visibility and recipients match each other, the parent comment, and the caller’s permissions.',
};
