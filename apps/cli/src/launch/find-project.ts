import { projectRoutes, type Project } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { rememberName } from '../output/typed-names.ts';
import { readAll } from '../read-all.ts';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => uuid.test(text);

export const listProjects = (api: ApiClient): Promise<Project[]> =>
  readAll(
    (query) => api.call(projectRoutes.list, { query }),
    (page) => page.projects,
  );

/**
 * The ID of the project with this name. What is an ID stays as it is: that of a project, or the launch ID of direct
 * code; the server refuses what it does not know.
 */
export async function getAutomationId(api: ApiClient, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const named = (await listProjects(api)).filter((project) => project.name === text);
  const [only] = named;
  if (only === undefined)
    throw new CommandError(
      exitCodes.refused,
      `There is no project "${text}": "phalanx project list" shows yours.`,
    );
  if (named.length === 1) {
    rememberName(only.id, text);
    return only.id;
  }
  throw usageError(
    `Several projects have the name "${text}": give an ID of ${named.map(({ id }) => id).join(', ')}.`,
  );
}
