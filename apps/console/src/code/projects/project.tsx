import type { Project } from '@phalanx/protocol';
import { queryOptions, useQuery } from '@tanstack/react-query';

import { readAll } from '@phalanx/client/read-all';
import { call, callWithHeaders } from '../../api/call.ts';
import { draftsOf } from './editor/drafts.ts';
import { FilterSelect } from '../../parts/field.tsx';

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }): Promise<Project[]> =>
    readAll(
      (query) => call('GET /api/v2/automation-project', { query }, { signal }),
      ({ projects }) => projects,
    ),
});

const noNames = new Map<string, string>();

/** Returns the names of projects by ID, for lists that only contain IDs. */
export function useProjectNames(): ReadonlyMap<string, string> {
  const select = (projects: readonly Project[]) => new Map(projects.map(({ id, name }) => [id, name]));
  return useQuery({ ...projectsQuery, select }).data ?? noNames;
}

export const projectQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['project', projectId],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/automation-project/:id', { params: { id: projectId } }, { signal })).project,
  });

/** Interval at which files are checked for changes, in ms. */
export const filesMs = 5000;

/** Query for the list of files; its `dirty` says whether there is something to commit. */
export const filesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['files', projectId],
    queryFn: async ({ signal }) => {
      let dirty = false;
      const files = await readAll(
        (query) => call('GET /api/v2/automation/files/:id', { params: { id: projectId }, query }, { signal }),
        (page) => {
          dirty = page.dirty;
          return page.files;
        },
      );
      return { files, dirty };
    },
    // Files also change elsewhere: in other windows, by git, and by the CLI.
    refetchInterval: filesMs,
  });

export interface StoredFile {
  readonly content: string;
  readonly etag: string;
}

export async function readStoredFile(
  projectId: string,
  path: string,
  signal?: AbortSignal,
  version?: { commit: string } | { tree: string },
): Promise<StoredFile> {
  const input = { params: { id: projectId }, query: { path, ...version } };
  const { body, headers } = await callWithHeaders('GET /api/v2/automation/file/:id', input, { signal });
  return { content: body.content, etag: headers.get('etag') ?? '' };
}

/** Query for the paths with unsaved text in this browser. */
export const draftsQuery = (userId: string, projectId: string) =>
  queryOptions({
    queryKey: ['files', projectId, 'drafts'],
    queryFn: () => draftsOf(userId, projectId).list(),
    refetchInterval: 2000,
  });

interface ProjectSelectProps {
  value: string | undefined;
  /** Called with an empty string for any automation. */
  onChange: (projectId: string) => void;
}

/** Filter by project. Includes direct code and its launch if the address asks for them. */
export function ProjectSelect({ value, onChange }: ProjectSelectProps) {
  const { data: projects = [] } = useQuery(projectsQuery);
  const options = projects.map(({ id, name }) => ({ value: id, label: name }));
  return <FilterSelect label="Automation" value={value} options={options} onChange={onChange} />;
}
