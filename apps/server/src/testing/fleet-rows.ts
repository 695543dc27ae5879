import type { Db } from '../storage/db/database.ts';
import { GroupCommit } from '../storage/db/group-commit.ts';
import { createHostStore, type HostOpening } from '../fleet/hosts/store.ts';

interface Opening {
  userId: string;
  hostId: string;
  tokenId?: string;
  nodeId?: string;
  maxHosts?: number;
}

/** A new connection of a host of a user who is stored. */
export async function tryOpenHost(db: Db, given: Opening): Promise<HostOpening> {
  const { userId, hostId, tokenId = 'token', nodeId = 'node', maxHosts = 1000 } = given;
  const token = { id: tokenId, user_id: userId, name: tokenId, hash: tokenId, scopes: '[]', created_at: 0 };
  await db
    .insertInto('token')
    .values({ ...token, project_ids: null, expires_at: null, last_used_at: null, parent_id: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .insertInto('node')
    .values({ id: nodeId, started_at: 1, lease_until: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const store = createHostStore(db, new GroupCommit(db));
  return store.open(
    { userId, hostId, hostName: hostId, tokenId, knowsSecrets: true, knowsAppLimits: true, replays: false },
    { nodeId, maxHosts, now: 2 },
  );
}

/** Returns the epoch. */
export async function openHost(db: Db, given: Opening): Promise<number> {
  const opening = await tryOpenHost(db, given);
  if (typeof opening === 'object' && 'epoch' in opening) return opening.epoch;
  throw new Error(JSON.stringify(opening));
}

/** A run that is under way, of a launch of a user who is stored. */
export async function addRun(db: Db, id: string, userId = 'u'): Promise<void> {
  const launch = { id, user_id: userId, launch_id: id, fingerprint: '', created_at: 0 };
  const unknown = { answer: null, token_name: null, tree: null, parameters: null };
  await db
    .insertInto('launch')
    .values({ ...launch, ...unknown })
    .execute();
  const place = { device_id: 'phone', device_owner_id: userId, host_id: 'host', automation_id: 'automation' };
  const open = { started_at: null, ended_at: null, outcome: null, commit: null, dirty: null };
  const error = { error_code: null, error_message: null, error_stack: null };
  const run = {
    id,
    launch: id,
    user_id: userId,
    launch_id: id,
    status: 'running',
    stop_requested: 0,
    log_left: 0,
  } as const;
  await db
    .insertInto('run')
    .values({ ...run, ...place, ...open, ...error, created_at: 0 })
    .execute();
}
