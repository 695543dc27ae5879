import type { NewObjects } from './draft.ts';
import type { GitObjects } from './git-objects.ts';
import { isFolder } from './tree.ts';

/** Takes out of `objects` what stands at the same place in both trees: it is stored already. */
export async function dropKnown(
  repository: GitObjects,
  objects: NewObjects,
  { before, after }: { before: string | undefined; after: string | undefined },
): Promise<void> {
  if (before === undefined || after === undefined) return;
  if (before === after) objects.drop(after);
  const next = objects.trees.get(after);
  if (next === undefined) return;
  const known = await repository.readTree(before);
  for (const [name, entry] of next) {
    const old = known.get(name);
    if (old?.id === entry.id) objects.drop(entry.id);
    else if (old !== undefined && isFolder(old) && isFolder(entry))
      await dropKnown(repository, objects, { before: old.id, after: entry.id });
  }
}
