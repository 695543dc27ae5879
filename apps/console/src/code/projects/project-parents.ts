import type { PageParent } from '../../parts/page.tsx';

/** Returns the parent pages of a page of a project. */
export const projectParents = (projectId: string, name: string | undefined): readonly PageParent[] => [
  { label: 'Projects', link: { to: '/projects' } },
  { label: name ?? 'Project', link: { to: '/projects/$projectId', params: { projectId } } },
];
