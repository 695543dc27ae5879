import type { PhoneUser } from '@phalanx/protocol';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell, ShellResult } from '../shell/phone-shell.ts';

/** For programs of Android, with a space before it; nothing for the main user. */
export const userOption = (user: number | undefined): string => (user === undefined ? '' : ` --user ${user}`);

export async function listUsers(shell: PhoneShell, signal: AbortSignal): Promise<PhoneUser[]> {
  const { stdout } = await shell.run('pm list users', signal);
  return [...stdout.matchAll(/UserInfo\{(\d+):(.*):[0-9a-f]+\}( running)?/g)].map(
    ([, id, name = '', running]) => ({
      id: Number(id),
      name,
      isRunning: running !== undefined,
    }),
  );
}

/** Throws when the phone has said that it has no such user, or does not let the computer there. */
export function requireUser({ stdout, stderr }: ShellResult, user: number | undefined): void {
  const said = `${stdout}\n${stderr}`;
  if (user === undefined) return;
  if (/does not have permission to access user|DISALLOW_DEBUGGING_FEATURES/i.test(said))
    throw new DriverError(
      'user_refused',
      `The phone does not let the computer to user ${user}: whoever manages it has forbidden debugging there.`,
    );
  if (/(?:Invalid user|no such user|user .*(?:does not exist|not found))/i.test(said))
    throw new DriverError('user_refused', `The phone has no user ${user}; agent.apps.users() lists them.`);
}

/** The users for whom an app is installed. */
export async function listUsersOf(
  shell: PhoneShell,
  packageName: string,
  signal: AbortSignal,
): Promise<number[]> {
  const { stdout } = await shell.run(`dumpsys package ${packageName} | grep ' installed=true'`, signal);
  return [...stdout.matchAll(/^\s*User (\d+):/gm)].map(([, id]) => Number(id));
}
