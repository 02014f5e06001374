/** Which failures touch which requirement. */

/** What is needed of a failure; null is one that cannot be read. */
type Touching = { id: string; requirements: readonly string[] } | null;

export function touching(failures: readonly Touching[]): ReadonlyMap<string, readonly string[]> {
  const touched = new Map<string, string[]>();
  for (const failure of failures) {
    for (const requirement of failure?.requirements ?? []) {
      const known = touched.get(requirement) ?? [];
      if (failure && !known.includes(failure.id)) touched.set(requirement, [...known, failure.id]);
    }
  }
  return touched;
}
