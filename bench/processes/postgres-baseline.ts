import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { Type } from 'typebox';

import { migrateDatabase } from '../../apps/server/src/storage/db/database.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { sampleEntries } from '../hosts/log-sender.ts';

/** Executes the statements of servers on a bare connection, with prepared rows. */

const clients: Client[] = [];
let databaseUrl = '';
let lastNo = 0;

async function clientNo(at: number): Promise<Client> {
  const known = clients[at];
  if (known !== undefined) return known;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  clients[at] = client;
  return client;
}

const id = (): string => `018f0000-0000-7000-8000-${(lastNo += 1).toString(16).padStart(12, '0')}`;
const list = (count: number): string[] => Array.from({ length: count }, id);

interface Fleet {
  readonly devices: readonly string[];
  readonly epochs: readonly number[];
}
let fleet: Fleet = { devices: [], epochs: [] };

/** Creates a user with phones at connected hosts. */
async function makeFleet(client: Client, hosts: number, devicesPerHost: number): Promise<Fleet> {
  const hostIds = list(hosts);
  const devices = list(hosts * devicesPerHost);
  await client.query(`INSERT INTO node (id, started_at) VALUES ('node', 0)`);
  await client.query(
    `INSERT INTO "user" (id, name, name_key, role, created_at) VALUES ('user', 'user', 'user', 'admin', 0)`,
  );
  await client.query(`INSERT INTO host (owner_id, id, seen_at) SELECT 'user', unnest($1::text[]), 0`, [
    hostIds,
  ]);
  const { rows } = await client.query<{ epoch: string }>(
    `INSERT INTO host_session (owner_id, host_id, node_id, opened_at)
     SELECT 'user', unnest($1::text[]), 'node', 0 RETURNING epoch`,
    [hostIds],
  );
  await client.query(
    `INSERT INTO device (id, owner_id, serial, host_id, host_name, brand, model, android_version, sdk_version,
       screen_width, screen_height, last_seen_at, state, reason, since, identity)
     SELECT id, 'user', id, $2, '', '', '', '', 0, 0, 0, 0, 'ready', '', 0, id FROM unnest($1::text[]) AS own (id)`,
    [devices, hostIds[0]],
  );
  return { devices, epochs: rows.map(({ epoch }) => Number(epoch)) };
}

const insertRuns = `INSERT INTO run (id, device_id, device_owner_id, host_id, launch, user_id, automation_id, launch_id, status,
    "commit", dirty, created_at, epoch)
  SELECT own.id, own.device_id, 'user', 'host', $3, 'user', $3, $3, 'starting', NULL, NULL, $4, own.epoch
  FROM unnest($1::text[], $2::text[], $5::bigint[]) AS own (id, device_id, epoch)`;
const lockHosts =
  'SELECT epoch FROM host_session WHERE epoch IN (SELECT unnest($1::bigint[])) ORDER BY epoch FOR KEY SHARE';
const beginRuns = `UPDATE run SET status = 'running', started_at = $2 FROM unnest($1::text[]) AS change (id)
  WHERE run.id = change.id AND run.status = 'starting' RETURNING run.id`;

/** Executes the statements of one launch: its transaction, that of the started runs, and its reply. */
async function launch(runs: readonly string[], launchId: string): Promise<void> {
  const client = await clientNo(0);
  const now = Date.now();
  const epochs = runs.map((_, at) => fleet.epochs[at % fleet.epochs.length] ?? 0);
  await client.query('BEGIN');
  await client.query(lockHosts, [[...new Set(epochs)]]);
  await client.query('SELECT count(*) FROM run WHERE user_id = $1 AND ended_at IS NULL', ['user']);
  await client.query(
    `INSERT INTO launch (id, user_id, launch_id, fingerprint, created_at) VALUES ($1, 'user', $1, '', $2)`,
    [launchId, now],
  );
  await client.query(insertRuns, [runs, fleet.devices.slice(0, runs.length), launchId, now, epochs]);
  await client.query(
    `INSERT INTO bundle VALUES ('hash', 'code', NULL, $1) ON CONFLICT (hash) DO UPDATE SET used_at = $1 WHERE bundle.used_at < $1 - 3600000`,
    [now],
  );
  await client.query(`INSERT INTO launch_payload VALUES ($1, 'hash', '{}', $2)`, [launchId, now]);
  await client.query('COMMIT');
  await client.query('BEGIN');
  await client.query(lockHosts, [[...new Set(epochs)]]);
  await client.query(beginRuns, [runs, now]);
  await client.query('COMMIT');
}

interface Stream {
  readonly runId: string;
  readonly deviceId: string;
  readonly automationId: string;
  readonly entries: string;
  readonly count: number;
  seq: number;
}
let streams: Stream[] = [];

/**
 * Inserts batches. The texts are separate parameters, as in the servers: in an array literal, each quote would have
 * to be escaped.
 */
const appendBatches = (
  count: number,
): string => `WITH change AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS change (run_id, before, seq)),
  moved AS (
    UPDATE log_progress SET seq = change.seq FROM change
    WHERE log_progress.run_id = change.run_id AND log_progress.seq = change.before RETURNING log_progress.run_id),
  fenced AS (UPDATE host_session SET last_log_id = $9 WHERE epoch = ANY ($10::bigint[]) RETURNING epoch)
  INSERT INTO log_0 (device_id, automation_id, last_id, first_id, last_seq, oldest, newest, count, entries)
  SELECT device_id, automation_id, last_id, first_id, last_seq, $8, $8, count, entries
  FROM unnest($1::text[], $4::text[], $5::text[], $6::text[], $6::text[], $3::bigint[], $7::bigint[],
      ARRAY[${Array.from({ length: count }, (_, at) => `$${11 + at}`).join()}]::text[])
    AS batch (run_id, device_id, automation_id, last_id, first_id, last_seq, count, entries)
    JOIN moved ON moved.run_id = batch.run_id`;

async function append(): Promise<number> {
  const before = streams.map(({ seq }) => seq);
  for (const stream of streams) stream.seq += stream.count;
  const ids = list(streams.length);
  const client = await clientNo(0);
  const { rowCount } = await client.query(appendBatches(streams.length), [
    streams.map(({ runId }) => runId),
    before,
    streams.map(({ seq }) => seq),
    streams.map(({ deviceId }) => deviceId),
    streams.map(({ automationId }) => automationId),
    ids,
    streams.map(({ count }) => count),
    Date.now(),
    ids.at(-1),
    fleet.epochs,
    ...streams.map(({ entries }) => entries),
  ]);
  if (rowCount !== streams.length) throw new Error(`${rowCount} of ${streams.length} batches were stored`);
  return streams.reduce((sum, { count }) => sum + count, 0);
}

/** Returns entries in the format that the service stores. */
const entriesText = (count: number, runId: string): string =>
  sampleEntries(count)
    .map(([time, level, line, message]) =>
      JSON.stringify({
        id: id(),
        run_id: runId,
        message,
        messageLevel: level,
        lineNumber: line,
        timestamp: time,
      }),
    )
    .join(',\n');

answerParent({
  /** Connects to a separate database. */
  open: command(Type.Object({ url: Type.String() }), async ({ url }) => {
    const client = new Client({ connectionString: `${url}/postgres` });
    await client.connect();
    await client.query('CREATE DATABASE raw');
    await client.end();
    databaseUrl = `${url}/raw`;
    await migrateDatabase({ url: databaseUrl });
  }),
  makeFleet: command(
    Type.Object({ hosts: Type.Integer(), devicesPerHost: Type.Integer() }),
    async ({ hosts, devicesPerHost }) => {
      fleet = await makeFleet(await clientNo(0), hosts, devicesPerHost);
    },
  ),
  /** Returns the duration in ms. */
  launch: command(Type.Object({ devices: Type.Integer() }), async ({ devices }) => {
    const runs = list(devices);
    const launchId = id();
    const startedAt = performance.now();
    await launch(runs, launchId);
    const tookMs = performance.now() - startedAt;
    await (
      await clientNo(0)
    ).query('UPDATE run SET status = $1, ended_at = 1 WHERE launch = $2', ['completed', launchId]);
    return tookMs;
  }),
  /** Prepares a run on each phone that logs frames of a range of entries. */
  prepareLogs: command(Type.Object({ min: Type.Integer(), max: Type.Integer() }), async ({ min, max }) => {
    const runs = fleet.devices.map(id);
    await launch(runs, id());
    await (await clientNo(0)).query('INSERT INTO log_progress SELECT unnest($1::text[]), 0', [runs]);
    streams = runs.map((runId, at) => {
      const count = min + (at % (max - min + 1));
      const place = { runId, deviceId: fleet.devices[at] ?? '', automationId: randomUUID() };
      return { ...place, entries: entriesText(count, runId), count, seq: 0 };
    });
  }),
  /** Inserts a batch of every run in each statement. Counts entries. */
  append: command(Type.Object({ statements: Type.Integer() }), async ({ statements }) => {
    const startedAt = performance.now();
    let count = 0;
    for (let done = 0; done < statements; done += 1) count += await append();
    return { count, elapsedMs: performance.now() - startedAt };
  }),
  /** Reads the log of the first run repeatedly on several connections. Counts replies. */
  read: command(
    Type.Object({ connections: Type.Integer(), durationMs: Type.Number() }),
    async ({ connections, durationMs }) => {
      const [{ deviceId, automationId } = { deviceId: '', automationId: '' }] = streams;
      const startedAt = performance.now();
      let count = 0;
      const read = async (at: number): Promise<void> => {
        const client = await clientNo(at);
        while (performance.now() - startedAt < durationMs) {
          const { rows } = await client.query(
            `SELECT first_id, last_id, oldest, count, entries FROM log_0
             WHERE device_id = $1 AND automation_id = $2 AND last_id > '' ORDER BY last_id LIMIT 20`,
            [deviceId, automationId],
          );
          if (rows.length !== 1) throw new Error(`${rows.length} batches instead of one`);
          count += 1;
        }
      };
      await Promise.all(Array.from({ length: connections }, (_, at) => read(at)));
      return { count, elapsedMs: performance.now() - startedAt };
    },
  ),
});
