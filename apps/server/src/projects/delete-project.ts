import type { ProjectPeople } from './project-people.ts';
import type { ProjectRepositories } from './project-repositories.ts';
import type { ProjectStore } from './store.ts';

interface ProjectDeletion {
  store: ProjectStore;
  people: ProjectPeople;
  repositories: ProjectRepositories;
  /** Told after the project is gone. */
  onDeleted: (projectId: string) => Promise<void>;
}

/** With files and commits. False when it was gone already. */
export async function deleteProject(
  { store, people, repositories, onDeleted }: ProjectDeletion,
  id: string,
): Promise<boolean> {
  if (!(await store.delete(id))) return false;
  people.forget(id);
  await repositories.remove(id);
  await onDeleted(id);
  return true;
}
