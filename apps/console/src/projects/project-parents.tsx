import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** The pages above a page of a project. */
export const projectParents = (projectId: string, name: string | undefined): readonly ReactNode[] => [
  <Link key="projects" to="/projects">
    Projects
  </Link>,
  <Link key="project" to="/projects/$projectId" params={{ projectId }}>
    {name ?? 'Project'}
  </Link>,
];
