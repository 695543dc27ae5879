/**
 * `npm run bench [-- names of rows] [--attack NAME …] [--count N] [--minutes N] [--part N] [--json] [--profile]`
 *
 * Measures the rows and prints one table. `--json` prints it as JSON. `--profile` writes a CPU profile of every
 * process to a temporary folder and prints where their time went. `--attack` limits `findings` and `hostile` to the
 * named attacks. `--count` and `--minutes` apply to `simulated-phones`. `--part 0.05` runs `queue`, `queue-idle` and
 * `schedules` as a trial with a twentieth of the waiting work, which says nothing about their goals.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { allAttacks } from './attacks/all-attacks.ts';
import { printProfiles } from './harness/profile.ts';
import { onStage } from './harness/stage.ts';
import { formatNotes, formatTable, tableJson, type Measured } from './harness/table.ts';
import { clusterIngest } from './rows/cluster-ingest.ts';
import { clusterLaunch } from './rows/cluster-launch.ts';
import { clusterPoll } from './rows/cluster-poll.ts';
import { commit } from './rows/commit.ts';
import { confinement } from './rows/confinement.ts';
import { driverCalls } from './rows/driver-calls.ts';
import { film } from './rows/film.ts';
import { findings } from './rows/findings.ts';
import { firstLine } from './rows/first-line.ts';
import { phonesBusy, phonesIdle, phonesStoring, phonesWaiting } from './rows/fleet.ts';
import { follow } from './rows/follow.ts';
import { grouping } from './rows/grouping.ts';
import { hostile } from './rows/hostile.ts';
import { ingest } from './rows/ingest.ts';
import { largeFile } from './rows/large-file.ts';
import { launch } from './rows/launch.ts';
import { live } from './rows/live.ts';
import { liveVideo } from './rows/live-video.ts';
import { mcpAgents } from './rows/mcp-agents.ts';
import { memory } from './rows/memory.ts';
import { poll } from './rows/poll.ts';
import { queue, queueIdle } from './rows/queue.ts';
import { recording } from './rows/recording.ts';
import { reconnect } from './rows/reconnect.ts';
import { records } from './rows/records.ts';
import { replayStream, replayStrict } from './rows/replay.ts';
import { save } from './rows/save.ts';
import { residentScreens } from './rows/resident-screen.ts';
import { schedules } from './rows/schedules.ts';
import { simulatedPhones } from './rows/simulated-phones.ts';
import { spool } from './rows/spool.ts';
import { storeRecord } from './rows/store-record.ts';
import { trace } from './rows/trace.ts';
import { allTogether } from './rows/under-attack.ts';
import { wall } from './rows/wall.ts';
import { write } from './rows/write.ts';

const rows = [
  poll,
  ingest,
  spool,
  launch,
  firstLine,
  confinement,
  follow,
  write,
  save,
  commit,
  largeFile,
  queue,
  queueIdle,
  schedules,
  recording,
  trace,
  storeRecord,
  grouping,
  records,
  replayStream,
  replayStrict,
  memory,
  simulatedPhones,
  hostile,
  findings,
  reconnect,
  ...driverCalls,
  ...residentScreens,
  phonesIdle,
  phonesBusy,
  phonesStoring,
  phonesWaiting,
  live,
  wall,
  liveVideo,
  film,
  mcpAgents,
  clusterPoll,
  clusterIngest,
  clusterLaunch,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    attack: { type: 'string', multiple: true, default: [] },
    count: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '1' },
    part: { type: 'string', default: '1' },
  },
});
const unknown = positionals.filter((name) => rows.every((row) => row.name !== name));
if (unknown.length > 0) {
  console.error(`No row is called ${unknown.join(', ')}. Rows: ${rows.map((row) => row.name).join(', ')}`);
  process.exit(1);
}
const attacks = new Set([...allAttacks.map(({ name }) => name), allTogether]);
const unknownAttacks = values.attack.filter((name) => !attacks.has(name));
if (unknownAttacks.length > 0) {
  console.error(`No attack is called ${unknownAttacks.join(', ')}. Attacks: ${[...attacks].join(', ')}`);
  process.exit(1);
}
const chosen = rows.filter((row) => positionals.length === 0 || positionals.includes(row.name));
const profileFolder = values.profile ? await mkdtemp(path.join(tmpdir(), 'phalanx-profile-')) : undefined;

const options = {
  attacks: values.attack,
  count: Number(values.count),
  minutes: Number(values.minutes),
  part: Number(values.part),
};
const measured: Measured[] = [];
for (const row of chosen) {
  console.error(`${row.name}: ${row.title} ...`);
  const folder = profileFolder === undefined ? undefined : path.join(profileFolder, row.name);
  try {
    measured.push({ row, result: await onStage(folder, options, (stage) => row.measure(stage)) });
  } catch (error) {
    // Keeps the figures of the other rows.
    console.error(`${row.name} could not be measured:`, error);
    process.exitCode = 1;
  }
}

if (values.json) console.log(JSON.stringify(tableJson(measured), null, 2));
else console.log(`\n${formatTable(measured)}\n\n${formatNotes(measured)}`);
if (profileFolder !== undefined) await printProfiles(profileFolder);
