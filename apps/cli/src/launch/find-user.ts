import { accessRoutes, type User } from '@phalanx/protocol';

import { ApiRefusal, type ApiClient } from '../api-client.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { rememberName } from '../output/typed-names.ts';
import { readAll } from '../read-all.ts';
import { isUuid } from './find-project.ts';

export const listUsers = (api: ApiClient): Promise<User[]> =>
  readAll(
    (query) => api.call(accessRoutes.listUsers, { query }),
    (page) => page.users,
  );

/** `text` is an ID, or for administrators a name. */
export async function getUserId(api: ApiClient, text: string): Promise<string> {
  if (isUuid(text)) return text.toLowerCase();
  const users = await listUsers(api).catch((error: unknown) => {
    if (!(error instanceof ApiRefusal) || error.status !== 403) throw error;
    throw usageError(`Only administrators find users by name: give the ID of the user "${text}".`);
  });
  const named = users.filter(({ name }) => name === text);
  const [only] = named;
  if (only === undefined)
    throw new CommandError(exitCodes.refused, `There is no user "${text}": "phalanx user list" shows them.`);
  if (named.length === 1) {
    rememberName(only.id, text);
    return only.id;
  }
  throw usageError(
    `Several users have the name "${text}": give an ID of ${named.map(({ id }) => id).join(', ')}.`,
  );
}
