/** The tag of one thing. Ids beyond 2^53 are rounded as JSON.parse rounds them: two may share a tag, none is missed. */
export function tagOf(kind: string, id: string | number): string {
  const text = String(id);
  return /^[0-9]{1,20}$/.test(text) ? `${kind}:${Number(text)}` : `${kind}:${text}`;
}

/** The tag of pages that may show anything of a kind; purging it purges everything of that kind. */
export function wildcardOf(kind: string): string {
  return `${kind}:*`;
}

/** The kind of a tag (`node` of `node:5`); undefined for tags without one. */
export function kindOf(tag: string): string | undefined {
  const colon = tag.indexOf(':');
  return colon > 0 ? tag.slice(0, colon) : undefined;
}

/** Fills path parameters into tag templates of the contract (`node:{nodeId}`); a name that is missing gives the wildcard. */
export function tagsOf(templates: readonly string[], parameters: Readonly<Record<string, string | number>>): string[] {
  return templates.map((template) => {
    const [, kind, name] = /^([^:{}]+):\{([^{}]+)\}$/.exec(template) ?? [];
    if (kind !== undefined && name !== undefined) return tagOf(kind, valueOf(parameters, name));
    return template.replaceAll(/\{([^{}]+)\}/g, (_, inner: string) => String(valueOf(parameters, inner)));
  });
}

function valueOf(parameters: Readonly<Record<string, string | number>>, name: string): string | number {
  return Object.hasOwn(parameters, name) ? (parameters[name] ?? '*') : '*';
}
