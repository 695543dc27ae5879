/** Checks all output of a run while the cable is cut and host and server are killed: nothing is lost or duplicated. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readHostRows } from '@phalanx/host/testing/host-rows';
import { until } from '@phalanx/host/testing/until';
import {
  fileRoutes,
  type FilmPicture,
  filmRoutes,
  type FilmVideo,
  launchRoutes,
  projectRoutes,
  type Run,
  type RunFile,
  runRoutes,
  type RunStep,
  traceRoutes,
} from '@phalanx/protocol';
import { makeScrcpyServer, startSimulatedPhone } from '@phalanx/simulated-phone';
import sharp from 'sharp';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

const timeLimitMs = 480_000;
/** Time limit in ms that includes a restart of the service. */
const waitMs = 120_000;
const [lines, steps] = [600, 301];

/** Four lines and two steps per round: one step reads the screen, the other one does not reach the phone. */
const numbered = `
for (let line = 1; line <= ${lines}; line += 1) {
  console.log('line ' + line);
  if (line % 4 !== 0) continue;
  await agent.actions.waitForText(/./);
  await agent.actions.sleep(40);
}
agent.control.setResult({ lines: ${lines} });
await agent.actions.waitForText('never comes', { timeoutMs: 200 });`;

const attachedBytes = 200_000;

/** The screen changes every few seconds, because a run may attach at most a hundred files. */
const endless = `
for (let round = 1; ; round += 1) {
  console.log('line ' + round);
  await agent.actions.launchApp('dev.phalanx.sample.form');
  if (round <= 90) await agent.run.attach(round + '.bin', new Uint8Array(${attachedBytes}).fill(round));
  await agent.actions.sleep(1500);
  await agent.actions.home();
  await agent.actions.sleep(1500);
}`;

/** A film with masks consists of pictures, because a video can't be masked. */
const masks = [{ area: { left: 0, top: 0, right: 1, bottom: 0.1 } }];

const Spooled = Compile(
  Type.Object({
    run_id: Type.String(),
    name: Type.String(),
    film: Type.Optional(Type.Object({ number: Type.Integer(), ended_at: Type.Optional(Type.Integer()) })),
  }),
);
type SpooledFile = ReturnType<typeof Spooled.Parse>;

let folder: string;
let installation: Installation;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-scrcpy-'));
  const scrcpy = path.join(folder, 'scrcpy-server');
  await writeFile(scrcpy, makeScrcpyServer('3.3.3'));
  const phones = await Promise.all(['TEST1', 'TEST2'].map((serial) => startSimulatedPhone({ serial })));
  const addresses = phones.map(({ host, port }) => `${host}:${port}`).join(',');
  const hostSettings = {
    PHALANX_PHONES: addresses,
    PHALANX_ADB_SERVER: 'off',
    PHALANX_SCRCPY_SERVER: scrcpy,
  };
  installation = await Installation.start({ phones, hostSettings });
});
afterAll(async () => {
  await installation.stop();
  await rm(folder, { recursive: true });
});

async function readyPhones(): Promise<[string, string]> {
  const [one, other] = await installation.readyDevices();
  return [one?.device_id ?? '', other?.device_id ?? ''];
}

async function runIdOf(launchId: string): Promise<string> {
  const run = await until(
    'the run',
    () => installation.findRun(launchId),
    (found) => found !== undefined,
  );
  return run?.run_id ?? '';
}

const spooledFolder = (): string => path.join(installation.folder, 'host', 'host', 'files');

/** Returns the spooled files of a run on the host. */
async function spooledOf(runId: string): Promise<SpooledFile[]> {
  return readHostRows(path.join(installation.folder, 'host'), 'run_file')
    .map(({ value }) => Spooled.Parse(JSON.parse(value)))
    .filter(({ run_id }) => run_id === runId);
}

const nothingSpooled = (): Promise<unknown> =>
  until(
    'nothing left on the host',
    () => readdir(spooledFolder()),
    ({ length }) => length === 0,
    waitMs,
  );

async function linesOf(id: string): Promise<string[]> {
  const all: string[] = [];
  for (let from: string | null | undefined; from !== null;) {
    const query = { limit: 100, ...(from !== undefined && { from }) };
    const page = await installation.api.call(runRoutes.logs, { params: { id }, query });
    all.push(...page.logs.map(({ message }) => message));
    from = page.next_cursor;
  }
  return all;
}

async function stepsOf(id: string): Promise<RunStep[]> {
  const all: RunStep[] = [];
  for (let from: string | null | undefined; from !== null;) {
    const query = { limit: 70, ...(from !== undefined && { from }) };
    const page = await installation.api.call(traceRoutes.read, { params: { id }, query });
    all.push(...page.steps);
    from = page.next_cursor;
  }
  return all;
}

const filesOf = async (id: string): Promise<readonly RunFile[]> =>
  (await installation.api.call(runRoutes.files, { params: { id } })).files;
const filmOf = (
  id: string,
): Promise<{ readonly pictures: readonly FilmPicture[]; readonly videos: readonly FilmVideo[] }> =>
  installation.api.call(filmRoutes.list, { params: { id }, query: {} });

async function readFilm(id: string, number: number): Promise<Buffer> {
  const params = { id, number: String(number) };
  const part = await installation.api.call(filmRoutes.read, { params });
  return Buffer.from(await part.arrayBuffer());
}

const untilMore = (
  what: string,
  read: () => Promise<readonly unknown[]>,
  minCount: number,
): Promise<number> =>
  until(
    `more than ${minCount} ${what}`,
    async () => (await read()).length,
    (count) => count > minCount,
    waitMs,
  );

const endedRun = async (id: string): Promise<Run> => {
  const read = async (): Promise<Run> => (await installation.api.call(runRoutes.get, { params: { id } })).run;
  return until('the end of the run', read, ({ ended_at }) => ended_at !== null, waitMs);
};

const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test(
  'log and trace have each line and step once, in order, though the server is killed in the middle, twice',
  async () => {
    const [deviceId] = await readyPhones();
    const launchId = await installation.launch(deviceId, numbered);
    const runId = await runIdOf(launchId);
    for (const reached of [100, 300]) {
      await untilMore('lines', () => linesOf(runId), reached);
      await installation.server.end('SIGKILL');
      await installation.restartServer();
    }
    await endedRun(runId);
    expect(await linesOf(runId)).toEqual([
      ...numbersTo(lines).map((line) => `line ${line}`),
      expect.stringMatching(/^Uncaught WaitTimeoutError: .*"never comes"/),
    ]);
    const trace = await stepsOf(runId);
    expect(trace.map(({ step }) => step)).toEqual(numbersTo(steps));
    const last = trace.at(-1);
    expect(last).toMatchObject({ name: 'waitForText', target: '"never comes"', outcome: 'wait_timeout' });
    const { run } = await installation.api.call(runRoutes.get, { params: { id: runId } });
    expect(run).toMatchObject({ outcome: 'failed', result: { lines }, error: { code: 'uncaught_error' } });
    expect(run.last_screen?.screen._id).toBe(last?.after);
  },
  timeLimitMs,
);

test(
  'the files of a run that fails are there when its end is',
  async () => {
    const [deviceId] = await readyPhones();
    const launchId = await installation.launch(
      deviceId,
      `for (let n = 0; n < 20; n += 1) await agent.run.attach(n + '.json', { n });
      void agent.run.attach('unfinished.bin', new Uint8Array(20_000_000));
      throw new Error('on purpose');`,
    );
    const { run_id, error } = await installation.endedRun(launchId);
    expect(error?.code).toBe('uncaught_error');
    expect((await filesOf(run_id)).map(({ name }) => name).toSorted()).toEqual(
      Array.from({ length: 20 }, (_, n) => `${n}.json`).toSorted(),
    );
    await nothingSpooled();
  },
  timeLimitMs,
);

/** Launches a project with masks, whose film consists of pictures. */
async function launchMasked(deviceId: string): Promise<string> {
  const { api } = installation;
  const { project } = await api.call(projectRoutes.create, { body: { name: 'masked' } });
  const params = { id: project.id };
  for (const [name, content] of [
    ['main.ts', endless],
    ['masks.json', JSON.stringify(masks)],
  ] as const)
    await api.call(fileRoutes.write, { params, body: { path: name, content } });
  const body = { device_ids: [deviceId], automationId: project.id, command: 'start' as const, film: true };
  await api.call(launchRoutes.launch, { body });
  return runIdOf(project.id);
}

/** Launches a project whose film is a video, if the phone can encode it. */
async function launchWithVideo(deviceId: string): Promise<string> {
  const launchId = crypto.randomUUID();
  const about = { device_id: deviceId, launch_id: launchId, command: 'start' as const };
  await installation.api.call(launchRoutes.launchDirect, { body: { ...about, code: endless, film: true } });
  return runIdOf(launchId);
}

/** Files, pictures and videos of a run on the host's disk after it was disconnected, by number. */
interface Waiting {
  readonly files: readonly string[];
  readonly pictures: readonly number[];
  readonly videos: readonly number[];
}

async function waitingOf(runId: string): Promise<Waiting> {
  const spooled = await spooledOf(runId);
  const film = spooled.flatMap((file) => file.film ?? []);
  return {
    files: spooled.filter((file) => file.film === undefined).map(({ name }) => name),
    pictures: film.filter(({ ended_at }) => ended_at === undefined).map(({ number }) => number),
    videos: film.filter(({ ended_at }) => ended_at !== undefined).map(({ number }) => number),
  };
}

async function requireFiles(runId: string, waiting: readonly string[]): Promise<void> {
  const files = await until(
    'the files that were on disk',
    () => filesOf(runId),
    (now) => waiting.every((wanted) => now.some(({ name }) => name === wanted)),
    waitMs,
  );
  // No file in the sequence is missing, and each is complete.
  const rounds = files.map(({ name }) => Number.parseInt(name)).toSorted((one, other) => one - other);
  expect(rounds).toEqual(numbersTo(files.length));
  for (const round of rounds) {
    const params = { id: runId, name: `${round}.bin` };
    const content = await installation.api.text(runRoutes.readFile, { params });
    expect(content === String.fromCodePoint(round).repeat(attachedBytes), params.name).toBe(true);
  }
}

async function requirePictures(runId: string, waiting: readonly number[]): Promise<void> {
  const { pictures } = await until(
    'the pictures that were on disk',
    () => filmOf(runId),
    (now) => now.pictures.length >= Math.max(...waiting),
    waitMs,
  );
  expect(pictures.map(({ number }) => number)).toEqual(numbersTo(pictures.length));
  for (const { number, width, height } of pictures)
    expect(await sharp(await readFilm(runId, number)).metadata()).toMatchObject({
      format: 'jpeg',
      width,
      height,
    });
}

async function requireVideos(runId: string, waiting: readonly number[]): Promise<void> {
  const { videos } = await until(
    'the videos that were on disk',
    () => filmOf(runId),
    (now) => waiting.every((wanted) => now.videos.some(({ number }) => number === wanted)),
    waitMs,
  );
  for (const { number, size_bytes } of videos) {
    const content = await readFilm(runId, number);
    expect([content.byteLength, content.toString('latin1', 4, 8)]).toEqual([size_bytes, 'ftyp']);
    // Last box of the file, which a truncated file would lack.
    expect(content.toString('latin1', content.byteLength - 12, content.byteLength - 8)).toBe('mfro');
  }
}

test(
  'what was written on the host when the cable is cut, and host and server are killed, comes whole and once',
  async () => {
    const [one, other] = await readyPhones();
    const masked = await launchMasked(one);
    const withVideo = await launchWithVideo(other);
    const seen = await untilMore('pictures', async () => (await filmOf(masked)).pictures, 1);
    await untilMore('files', () => filesOf(masked), 0);
    const counts = [(await linesOf(masked)).length, (await stepsOf(masked)).length];
    installation.cable.pull();
    // The first ones may already be stored, with their acknowledgements lost.
    const [written, video] = await until(
      'files, pictures and a video on disk',
      () => Promise.all([waitingOf(masked), waitingOf(withVideo)]),
      ([now, filmed]) =>
        now.files.length >= 2 &&
        now.pictures.filter((number) => number > seen).length >= 2 &&
        filmed.videos.length > 0,
      waitMs,
    );
    await installation.host.end('SIGKILL');
    await installation.server.end('SIGKILL');
    installation.cable.plug();
    await installation.restartServer();
    installation.restartHost();
    await requireFiles(masked, written.files);
    await requirePictures(masked, written.pictures);
    await requireVideos(withVideo, video.videos);
    for (const runId of [masked, withVideo])
      expect(await endedRun(runId)).toMatchObject({ outcome: 'failed', error: { code: 'host_restarted' } });
    const [log, trace] = [await linesOf(masked), await stepsOf(masked)];
    expect(log).toEqual(log.map((_, index) => `line ${index + 1}`));
    expect(trace.map(({ step }) => step)).toEqual(numbersTo(trace.length));
    for (const [index, count] of [log.length, trace.length].entries())
      expect(count).toBeGreaterThanOrEqual(counts[index] ?? 0);
    await nothingSpooled();
  },
  timeLimitMs,
);
