import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** The pages above a page of a project. */
export const projectParents = (projectId: string, name: string | undefined): readonly ReactNode[] => [
  <Link key="projects" to="/projects" activeOptions={{ exact: true }}>
    Projects
  </Link>,
  <Link key="project" to="/projects/$projectId" params={{ projectId }} activeOptions={{ exact: true }}>
    {name ?? 'Project'}
  </Link>,
];
