import type { RunLauncher } from '@phalanx/protocol';

/** Such as `ada`, `ada · nightly token`, `Job`, `Schedule "Nightly"`. */
export function launcherWords({ user_id: id, user_name: name, token_name: token, job }: RunLauncher): string {
  if (job !== null) {
    if (job.schedule_name !== null) return `Schedule “${job.schedule_name}”`;
    return job.schedule_id === null ? 'Job' : 'Deleted schedule';
  }
  return token === null ? (name ?? id) : `${name ?? id} · ${token}`;
}
