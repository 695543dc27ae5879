import type { ProjectPeople } from './project-people.ts';
import type { ProjectRepositories } from './repositories/project-repositories.ts';

interface ProjectDeletion {
  people: ProjectPeople;
  repositories: ProjectRepositories;
  /** Told after the project is gone. */
  onDeleted: (projectId: string) => Promise<void>;
}

/** With files and commits. False when it was gone already. */
export async function deleteProject(
  { people, repositories, onDeleted }: ProjectDeletion,
  id: string,
): Promise<boolean> {
  if (!(await repositories.delete(id))) return false;
  people.forget(id);
  await onDeleted(id);
  return true;
}
