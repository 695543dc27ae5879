import type { Project } from '@phalanx/protocol';
import { queryOptions, useQuery } from '@tanstack/react-query';

import { call, callWhole, readAll } from '../../api/call.ts';
import { draftsOf } from './editor/drafts.ts';
import { FilterSelect } from '../../parts/field.tsx';

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }): Promise<Project[]> =>
    readAll(async (cursor) => {
      const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
      const { projects, next_cursor: next } = await call(
        'GET /api/v2/automation-project',
        { query },
        { signal },
      );
      return { rows: projects, next };
    }),
});

const noNames = new Map<string, string>();

/** Names by ID, for lists that only have IDs. */
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

/** Between two looks whether files have changed, in milliseconds. */
export const filesMs = 5000;

/** The list of files; its `dirty` says whether there is something to commit. */
export const filesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['files', projectId],
    queryFn: async ({ signal }) => {
      let dirty = false;
      const files = await readAll(async (cursor) => {
        const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
        const page = await call(
          'GET /api/v2/automation/files/:id',
          { params: { id: projectId }, query },
          { signal },
        );
        dirty = page.dirty;
        return { rows: page.files, next: page.next_cursor };
      });
      return { files, dirty };
    },
    // Others save and commit too: people in other windows, git, the command line.
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
  const { body, headers } = await callWhole('GET /api/v2/automation/file/:id', input, { signal });
  return { content: body.content, etag: headers.get('etag') ?? '' };
}

/** Paths of what is typed in this browser and not saved. */
export const draftsQuery = (userId: string, projectId: string) =>
  queryOptions({
    queryKey: ['files', projectId, 'drafts'],
    queryFn: () => draftsOf(userId, projectId).list(),
    refetchInterval: 2000,
  });

interface ProjectSelectProps {
  value: string | undefined;
  /** An empty text: any automation. */
  onChange: (projectId: string) => void;
}

/** Direct code has no project; its launch may still be what an address asks for. */
export function ProjectSelect({ value, onChange }: ProjectSelectProps) {
  const { data: projects = [] } = useQuery(projectsQuery);
  const options = projects.map(({ id, name }) => ({ value: id, label: name }));
  return <FilterSelect label="Automation" value={value} options={options} onChange={onChange} />;
}
