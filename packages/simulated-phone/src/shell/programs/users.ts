import { mainUser, workProfile } from '../../android/packages/packages.ts';
import type { Phone } from '../../phone.ts';

/** The user of `--user N`; the main one without it. */
export function userOf(args: readonly string[]): number {
  const at = args.indexOf('--user');
  const user = at === -1 ? mainUser : Number(args[at + 1]);
  return Number.isInteger(user) ? user : mainUser;
}

/** Why the shell may do nothing for that user. */
export function usersProblem({ android, faults }: Phone, args: readonly string[]): string | undefined {
  const user = userOf(args);
  if (!android.packages.listUsers().includes(user)) return `IllegalArgumentException: Invalid user: ${user}`;
  return user === workProfile && faults.closedProfile
    ? `SecurityException: Shell does not have permission to access user ${user}`
    : undefined;
}
