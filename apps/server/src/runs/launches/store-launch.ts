import type { AuditLog } from '../../http/audit/audit-log.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import { areCurrent } from '../../storage/db/epochs.ts';
import { serialize } from '../../storage/db/transactions.ts';
import { spendBudget } from '../../storage/db/token-use.ts';
import type { GroupCommit } from '../../storage/db/group-commit.ts';
import type { Launch, LaunchKey } from './launch.ts';
import type { LaunchRows } from './launch-rows.ts';
import { type LaunchPayload, storePayload } from './payload-store.ts';
import { lockRunsOf, type RunLimits } from './run-limits.ts';
import type { LaunchStore, StoredLaunch } from './store.ts';

/** Conflict that prevented a launch from being stored. Nothing was changed. */
export type LaunchConflict =
  /** A host has reconnected: the connection to send the runs on is stale. */
  | { readonly reason: 'reconnected' }
  /** The user has already used the launch ID of the key. */
  | { readonly reason: 'key'; readonly key: LaunchKey; readonly launch: StoredLaunch }
  /** The project already runs on these devices. */
  | { readonly reason: 'busy'; readonly deviceIds: ReadonlySet<string> };

export interface LaunchStores {
  readonly commits: GroupCommit;
  readonly launches: LaunchStore;
  readonly runLimits: Pick<RunLimits, 'requireRoom' | 'withRoom'>;
  readonly audit: Pick<AuditLog, 'writeOf'>;
}

/**
 * Stores a launch with all its runs in one transaction, or nothing. `payload` is stored for the other servers that have
 * hosts of the runs; undefined when this server has all of them. Returns the conflict that prevented the launch from
 * being stored. Throws the refusals of `runs`, `device_runs` and `budget_spent`, and the errors of `claim`.
 */
export const storeLaunch = (
  { commits, launches, runLimits, audit }: LaunchStores,
  launch: Launch,
  { launch: row, code, runs }: LaunchRows,
  payload: LaunchPayload | undefined,
): Promise<LaunchConflict | undefined> =>
  commits.write(async (transaction) => {
    const { launcher, key, project, devices, claim, auditEvent } = launch;
    const { userId, budget } = launcher;

    if (!(await areCurrent(transaction, new Set(devices.map(({ epoch }) => epoch)))))
      return { reason: 'reconnected' };
    await lockRunsOf(transaction, userId);
    if (key !== null) {
      const earlier = await launches.find(userId, key.launchId, transaction);
      if (earlier !== undefined) return { reason: 'key', key, launch: earlier };
    }
    if (project !== null) {
      // The lock is per project, because other users may launch it at the same time.
      await serialize(transaction, `runs of project ${project.projectId}`);
      const deviceIds = await launches.selectBusy(transaction, project.projectId, launch.deviceIds);
      if (deviceIds.size > 0) return { reason: 'busy', deviceIds };
    }

    await runLimits.requireRoom(transaction, userId, devices);
    if (budget !== null)
      await spendBudget(transaction, budget, { runs: devices.length, now: row.created_at });
    const withEpochs = runs.map((run) => ({ ...run.row, epoch: run.epoch }));
    await launches.insert(transaction, row, withEpochs, code);
    if (payload !== undefined) await storePayload(transaction, payload, row.created_at);
    const [first] = runs;
    if (claim !== undefined && first !== undefined) await claim(transaction, first.row);
    if (auditEvent !== null) {
      // Filled in only after the insert: a server that did not store the launch has nothing to audit.
      describeAuditEvent(launch, auditEvent);
      await audit.writeOf(auditEvent)(transaction);
    }
    return undefined;
  });

/** Fills in one audit event for all devices. */
function describeAuditEvent(
  { id, key, project, film, phoneSettings, devices }: Launch,
  auditEvent: AuditEvent,
): void {
  const owners = devices.map(({ device }) => device.ownerId);
  const [first] = devices;
  const details = {
    launch: id,
    ...(key !== null && { launch_id: key.launchId }),
    ...(project !== null && { commit: project.commit, tree: project.files.treeId }),
    ...(film && { film }),
    ...(phoneSettings !== undefined && { phone_settings: Object.keys(phoneSettings) }),
    devices: devices.length,
    first_devices: devices.slice(0, 10).map(({ device }) => device.id),
  };
  if (project !== null)
    auditEvent.on(
      { type: 'project', id: project.projectId, name: project.name },
      [project.ownerId, ...owners],
      details,
    );
  else if (first !== undefined)
    auditEvent.on({ type: 'device', id: first.device.id, name: first.device.serial }, owners, details);
}
