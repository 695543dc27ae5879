import { createServer } from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { scopes } from '@phalanx/protocol';
import { pino } from 'pino';
import { Type } from 'typebox';

import { systemClock as clock } from '../../apps/server/src/clock.ts';
import { compileDirectCode } from '../../apps/server/src/compile/direct-code.ts';
import { openDatabase } from '../../apps/server/src/db/database.ts';
import { Fleet } from '../../apps/server/src/devices/fleet.ts';
import { getOnlineDevices } from '../../apps/server/src/devices/online-devices.ts';
import { createDeviceStore } from '../../apps/server/src/devices/store.ts';
import { HostGateway } from '../../apps/server/src/hosts/gateway.ts';
import { createHostEvents } from '../../apps/server/src/hosts/host-events.ts';
import type { Principal } from '../../apps/server/src/http/principal.ts';
import { bundleOf } from '../../apps/server/src/launches/bundle.ts';
import { dispatch } from '../../apps/server/src/launches/dispatch.ts';
import { createLaunchStore } from '../../apps/server/src/launches/store.ts';
import { LogIngest } from '../../apps/server/src/logs/ingest.ts';
import { LogStore } from '../../apps/server/src/logs/store.ts';
import { ActiveRuns } from '../../apps/server/src/runs/active-runs.ts';
import { RunLifecycle } from '../../apps/server/src/runs/run-lifecycle.ts';
import { RunOwners } from '../../apps/server/src/runs/run-owners.ts';
import { GroupCommit } from '../../apps/server/src/db/group-commit.ts';
import { createRunStore } from '../../apps/server/src/runs/store.ts';
import { createAccessStore } from '../../apps/server/src/access/store.ts';
import { ensureAdministrator } from '../../apps/server/src/access/first-start.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { sampleCode } from '../http/api.ts';
import { portOf } from '../http/port-of.ts';

const heartbeatMs = 5000;
const ackTimeoutMs = 30_000;

/** The parts of the server between a launch and its hosts, wired as the server's own `app.ts` does it. */
async function openParts(dataDir: string) {
  const log = pino({ level: 'warn' });
  const database = await openDatabase(path.join(dataDir, 'phalanx.db'));
  const access = createAccessStore(database);
  await ensureAdministrator(access, clock, undefined);
  const user = (await access.listUsers())[0];
  if (user === undefined) throw new Error('there is no administrator');
  const commits = new GroupCommit(database);
  const runs = createRunStore(database, commits);
  const launches = createLaunchStore(database, commits);
  const activeRuns = new ActiveRuns();
  const fleet = new Fleet({ store: createDeviceStore(database), clock, heartbeatMs });
  const lifecycle = new RunLifecycle({
    store: runs,
    activeRuns,
    clock,
    lostAfterMs: 120_000,
    onChange: () => undefined,
  });
  const store = new LogStore({ folder: path.join(dataDir, 'logs'), clock, log });
  const ingest = new LogIngest({ store, log, onStored: () => undefined });
  const events = createHostEvents({
    ...{ fleet, lifecycle, ingest, log },
    owners: new RunOwners(runs),
    takeRecord: async () => [],
  });
  const principal: Principal = {
    userId: user.id,
    userName: user.name,
    role: user.role,
    tokenId: 'bench',
    scopes: new Set(scopes),
    projectIds: null,
    expiresAt: null,
  };
  const gateway = new HostGateway({ authenticate: async () => principal, events, clock, log, heartbeatMs });
  const linkOf = (deviceId: string) => fleet.find(deviceId)?.link ?? null;
  const dispatcher = { launches, runs, activeRuns, clock, ackTimeoutMs, linkOf, onCreated: () => undefined };
  return { userId: user.id, fleet, gateway, dispatcher };
}

let parts: Awaited<ReturnType<typeof openParts>> | undefined;

answerParent({
  /** Takes hosts, with any token. Returns the address. */
  listen: command(Type.Object({ dataDir: Type.String() }), async ({ dataDir }) => {
    parts = await openParts(dataDir);
    const server = createServer();
    parts.gateway.attach(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${portOf(server.address())}`;
  }),
  /** One launch on all devices. Returns how long it took until all had acknowledged, in ms. */
  launch: async () => {
    if (parts === undefined) throw new Error('listen first');
    const { userId, fleet, dispatcher } = parts;
    const deviceIds = fleet.listOwn(userId).map((device) => device.id);
    // Other code each time: a host that has the code is not sent it again.
    const code = `${sampleCode}console.log('${crypto.randomUUID()}');\n`;
    const bundle = bundleOf(await compileDirectCode(code));
    const startedAt = performance.now();
    const { started, missing } = await dispatch(dispatcher, {
      id: crypto.randomUUID(),
      userId,
      launchId: crypto.randomUUID(),
      fingerprint: 'bench',
      automationId: crypto.randomUUID(),
      bundle,
      version: null,
      automationParameters: {},
      jobVariables: {},
      devices: getOnlineDevices(fleet, userId, deviceIds),
    });
    const elapsedMs = performance.now() - startedAt;
    if (missing.length > 0) throw new Error(`${started.length} devices started, ${missing.length} did not`);
    return elapsedMs;
  },
});
