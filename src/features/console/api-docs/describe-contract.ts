import {
  type ContentObject,
  type OpenApiDocument,
  type OperationObject,
  resolve,
  type SchemaObject,
} from '../../../engine/contract/openapi-document.ts';
import type { ContractRules } from '../../../engine/contract/rules.ts';
import { type CheckName, CHECKS, type Checks, OPERATION_CHECKS } from '../../../engine/model/checks.ts';
import { type Operation, describeRequirement } from '../../../engine/model/operation.ts';

/** The sources for the description of the contract. */
export interface DescribedSources {
  readonly contractVersion: string;
  readonly document: OpenApiDocument;
  /** The operations that the gateway serves. Inferred operations may be missing. */
  readonly operations: readonly Operation[];
  readonly rules: ContractRules;
  readonly checksFor: (operationId: string) => Checks;
  /** The path prefix before `/services/v2`, or an empty string. */
  readonly publicBasePath: string;
}

/** An operation as shown in the API docs. References in its schemas are not resolved. */
type DescribedOperation = ReturnType<typeof describeOperation>;

/** The contract as shown in the API docs. */
interface DescribedContract {
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly publicBasePath: string;
  /** The checks of operations, with a few words for each. */
  readonly checks: readonly { readonly name: CheckName; readonly words: string }[];
  readonly groups: readonly {
    readonly name: string;
    readonly description: string;
    readonly operations: readonly DescribedOperation[];
  }[];
  readonly schemas: Readonly<Record<string, SchemaObject>>;
}

/** The optional members of an operation that are used only in the API docs. */
interface Prose {
  readonly tags?: readonly string[];
  readonly description?: string;
  readonly 'x-requires-provenance'?: string;
}

/**
 * Describes the contract for readers. The groups are in document order. References to parameters, responses and
 * examples are resolved.
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
    checks: OPERATION_CHECKS.map((name) => ({ name, words: CHECKS[name].words })),
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

function describeOperation(
  { document, rules, checksFor }: DescribedSources,
  operation: Operation,
  source: OperationObject,
) {
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
    responseRules: describeRules(operation.semanticRules, rules.semanticRules),
    requestRules: describeRules(operation.requestRules, rules.requestRules),
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

/** Returns the named rules with their descriptions. */
function describeRules(
  names: readonly string[],
  known: readonly { readonly name: string; readonly description: string }[],
) {
  return names.map((name) => ({ name, text: known.find((rule) => rule.name === name)?.description ?? '' }));
}

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
