import { accessRoutes } from '@phalanx/protocol';

import { connect } from '../../../connection/connection.ts';
import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { type Finding, note, ok, problem, reasonOf } from './finding.ts';

/** The server and the user of this user's other commands, as the login has them. */
export async function checkLogin(): Promise<Finding> {
  const part = 'login';
  try {
    const { api, serverUrl } = await connect({});
    const { user, token } = await api.call(accessRoutes.me);
    return ok(part, `${serverUrl} knows you as ${user.name}, with the token "${token.name}".`);
  } catch (error) {
    // Without a login this may be a machine that only has the phones.
    const isMissing = error instanceof CommandError && error.exitCode === exitCodes.usage;
    return isMissing ? note(part, reasonOf(error)) : problem(part, reasonOf(error));
  }
}
