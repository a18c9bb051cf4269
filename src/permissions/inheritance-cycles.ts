type Inheritance = Readonly<Record<string, { readonly inherits?: readonly string[] }>>;

/** Every cycle of inheritance once, as the roles on it with the first one repeated at the end. */
export function inheritanceCycles(roles: Inheritance): string[][] {
  const heirs = new Map(Object.entries(roles).map(([name, { inherits = [] }]) => [name, inherits]));
  const cycles = new Map<string, string[]>();
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]) => {
    const start = trail.indexOf(name);
    if (start >= 0) {
      const cycle = trail.slice(start);
      cycles.set([...cycle].sort().join('\n'), [...cycle, name]);
    }
    if (start >= 0 || done.has(name)) return;
    for (const next of heirs.get(name) ?? []) visit(next, [...trail, name]);
    done.add(name);
  };
  for (const name of heirs.keys()) visit(name, []);
  return [...cycles.values()];
}
