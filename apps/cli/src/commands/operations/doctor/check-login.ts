import { errorText } from '@phalanx/settings';
import { accessRoutes } from '@phalanx/protocol';

import { connect } from '../../../connection/connection.ts';
import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { type Finding, note, ok, problem } from './finding.ts';

/** Checks the login that other commands use: its server, user and token. */
export async function checkLogin(): Promise<Finding> {
  const part = 'login';
  try {
    const { api, serverUrl } = await connect({});
    const { user, token } = await api.call(accessRoutes.me);
    return ok(part, `Logged in to ${serverUrl} as ${user.name}, with the token "${token.name}".`);
  } catch (error) {
    // A machine that only connects phones needs no login.
    const isMissing = error instanceof CommandError && error.exitCode === exitCodes.usage;
    return isMissing ? note(part, errorText(error)) : problem(part, errorText(error));
  }
}
