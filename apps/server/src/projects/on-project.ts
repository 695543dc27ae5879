import type { Deed } from '../http/deed.ts';

/** Says of a deed that it is done to a project, whose owner may know of it. */
export function onProject(
  deed: Deed,
  { id, name, owner_id: ownerId }: { id: string; name: string; owner_id: string },
  details: Record<string, unknown> = {},
): void {
  deed.on({ type: 'project', id, name }, [ownerId], details);
}
