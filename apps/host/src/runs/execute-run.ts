import { errorText } from '@phalanx/settings';
import type { AppLimit, PhoneSettings, ScreenMask } from '@phalanx/protocol';
import type { Logger } from 'pino';

import { DriverError } from '../driver/driver-error.ts';
import type { RunSettings } from '../driver/settings/held-settings.ts';
import type { RunFilm } from '../film/run-film.ts';
import type { SpooledLog } from '../logs/spooled-log.ts';
import { callPhone, type CalledPhone } from '../phones/call-phone.ts';
import type { Phone } from '../phones/phone.ts';
import type { PhoneWatch } from '../phones/watch-phones.ts';
import type { RunRecorder } from '../records/run-recorder.ts';
import type { RunFiles } from './files/run-files.ts';
import type { SandboxEnd, SandboxHooks, SandboxJob, SandboxPool, SandboxRun } from '../sandbox/index.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { withTimeLimit } from '../time/time-limit.ts';
import { RunTrace } from '../logs/run-trace.ts';
import { answerCall } from './answer-call.ts';
import { RunAccount } from './run-account.ts';
import type { RunPermissions } from './run-permissions.ts';
import { failed, type RunEnd } from './run-record.ts';
import type { RunSecrets } from './run-secrets.ts';
import type { RunTasks } from './run-tasks.ts';

/** Run to execute. */
export interface RunTask extends CalledPhone {
  job: SandboxJob;
  appLimit: AppLimit | undefined;
  masks: readonly ScreenMask[];
  secrets: RunSecrets;
  /** Settings to apply to the phone before the code starts. */
  settings: PhoneSettings;
  /** Time that the server allows for loading the code, in milliseconds. */
  startWithinMs?: number | undefined;
}

export interface RunSurroundings {
  phones: PhoneWatch;
  /** Timeouts of the start. A run that exceeds them must not begin later. */
  timings: Pick<HostTimings, 'runStartMs'>;
  /** Maximum absence of the phone before the run fails, in milliseconds. */
  phoneGraceMs: number;
  pool: SandboxPool;
  permissions: RunPermissions;
  runLog: SpooledLog;
  recorder: RunRecorder;
  files: RunFiles;
  /** Film of the run; undefined when this host makes none. */
  film: RunFilm | undefined;
  /** Whether the run is filmed. Otherwise the film only contains the last screen of a run that ended well. */
  hasFilm: boolean;
  tasks: RunTasks;
  /** Log of the host itself. */
  log: Logger;
  start: RunStart;
}

/** Steps of a start, from the code in the sandbox to its first line. */
export interface RunStart {
  /** Records durably that the run may begin from now on. */
  journal: () => Promise<void>;
  /** Reports to the server that the code is loaded. Resolves when the server has stored that the run begins. */
  permission: () => Promise<void>;
  /** Called when the first line runs. */
  begun: () => void;
}

export interface Execution {
  /** Requests the end of the run. May be called at any time. */
  stop(): void;
  /** Resolves with the end of the run; never rejects. */
  done: Promise<RunEnd>;
}

export function executeRun(task: RunTask, surroundings: RunSurroundings): Execution {
  const stopAsked = new AbortController();
  const done = execute(task, surroundings, stopAsked.signal).catch((error: unknown) => {
    surroundings.log.error({ err: error, runId: task.job.runId }, 'A run could not be executed');
    if (error instanceof NotBegun) return failed(error.code, error.message);
    return failed('host_failed', "The host could not execute the run. The host program's own log says why.");
  });
  return { stop: () => stopAsked.abort(), done };
}

async function execute(
  task: RunTask,
  surroundings: RunSurroundings,
  stopAsked: AbortSignal,
): Promise<RunEnd> {
  await task.secrets.ready;
  if (stopAsked.aborted) return { status: 'stopped', error: null };
  const problem = problemWithPhone(surroundings.phones, task.serial);
  if (problem !== undefined) return failed('device_unavailable', problem);
  const account = new RunAccount();
  const trace = new RunTrace(surroundings.recorder.seen, (step) =>
    surroundings.runLog.pushStep(task.secrets.redactStep(step)),
  );
  const phone = getPhone(surroundings.phones, task.serial);
  const unmask = phone.masks.hold([...task.masks, ...task.secrets.masks()]);
  const settings = phone.settings.hold();
  const { use, end: endUse } = phone.uses.beginRun(task.by);
  const lastBoot = { id: phone.identity?.bootId };
  const called = { ...task, use, lastBoot, graceMs: surroundings.phoneGraceMs };
  const hooks = hooksOf(called, surroundings, { account, trace, settings });
  const sandbox = surroundings.pool.start(task.job, hooks);
  const stop = (): void => {
    sandbox.stop();
    surroundings.runLog.letGo();
  };
  stopAsked.addEventListener('abort', stop, { once: true });
  const letSleep = phone.screen.hold();
  const loss = watchForLoss(surroundings, task.serial, stop);
  try {
    const { runStartMs } = surroundings.timings;
    const areSet = setUp(called, surroundings.phones, { settings, stopAsked, limitMs: runStartMs });
    // Many runs that start together wait for each other's sandbox processes.
    const isLoaded = whenStarted(sandbox, Math.max(runStartMs, (task.startWithinMs ?? 0) - answerMs));
    const { end: ownEnd, hasBegun } = await follow(
      sandbox,
      { ...surroundings.start, areReady: Promise.all([isLoaded, areSet]) },
      stopAsked,
    );
    const end =
      loss.reason() === undefined
        ? task.secrets.redactEnd(account.blame(ownEnd))
        : failed('phone_lost', loss.reason() ?? '');
    trace.finish();
    // Records before the end is reported: the next run on the phone must not start before the last look at this screen.
    if (hasBegun) await recordBadEnd(end, surroundings.recorder, stopAsked);
    // Follows the record, which waits until the screen rests, so that the film ends with the same screen.
    if (hasBegun) await endFilm(end, surroundings);
    const app = hasBegun && countsFor(end) ? await surroundings.recorder.mainApp() : undefined;
    return { ...account.complete(end), ...(app !== undefined && { app }) };
  } catch (error) {
    stop();
    await sandbox.ended;
    throw error;
  } finally {
    loss.stop();
    await surroundings.film?.cut();
    await settings.letGo();
    letSleep();
    endUse();
    unmask();
    surroundings.recorder.close();
    await surroundings.files.close();
  }
}

/** Resolves when the phone has the settings of the launch, or when the run is stopped. */
async function setUp(
  { settings: wanted, serial, deviceId, use }: RunTask,
  phones: PhoneWatch,
  { settings, stopAsked, limitMs }: { settings: RunSettings; stopAsked: AbortSignal; limitMs: number },
): Promise<void> {
  if (Object.keys(wanted).length === 0) return;
  settings.claim(wanted);
  const message = `The phone ${serial} did not take its settings within ${limitMs / 1000} s.`;
  const onTimeout = (): Error => new NotBegun('device_unavailable', message);
  await withTimeLimit({ timeoutMs: limitMs, signals: [stopAsked], onTimeout }, (signal) =>
    callPhone(phones, { serial, deviceId, use }, { name: 'phone.settings', params: wanted, signal }),
  ).catch((error: unknown) => {
    if (stopAsked.aborted) return;
    if (error instanceof NotBegun) throw error;
    const isOfSetting = error instanceof DriverError && error.code.startsWith('setting_');
    const text = errorText(error);
    throw new NotBegun(isOfSetting ? error.code : 'device_unavailable', text, error);
  });
}

/** Whether the end says anything about the app. A stop says nothing about it, and an absent phone can't be asked. */
const countsFor = ({ status, error }: RunEnd): boolean =>
  status !== 'stopped' && error?.code !== 'phone_lost';

/** Ends a run whose phone stays away too long: it can do nothing more, and would keep the phone reserved. */
function watchForLoss(
  { phones, phoneGraceMs }: RunSurroundings,
  serial: string,
  end: () => void,
): { reason: () => string | undefined; stop: () => void } {
  let lost: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const { state } = phones.find(serial) ?? {};
    if (state?.state === 'ready') {
      clearTimeout(timer);
      timer = undefined;
      return;
    }
    timer ??= setTimeout(() => {
      const now = phones.find(serial)?.state;
      lost = `The phone ${serial} was away for ${phoneGraceMs / 1000} s: ${now?.reason ?? 'it is another phone now.'}`;
      end();
    }, phoneGraceMs);
  };
  const unsubscribe = phones.onChange((phone) => {
    if (phone.serial === serial) look();
  });
  return {
    reason: () => lost,
    stop: () => {
      clearTimeout(timer);
      unsubscribe();
    },
  };
}

async function recordBadEnd(
  { status, error }: RunEnd,
  recorder: RunRecorder,
  stopAsked: AbortSignal,
): Promise<void> {
  if (status === 'failed') await recorder.recordEnd('crash', error, stopAsked);
  else if (status === 'timed_out') await recorder.recordEnd('timeout', error, stopAsked);
}

/**
 * Ends the film with the last screen. A failed run has its last screen in its record; a run without calls to its phone
 * has none.
 */
async function endFilm({ status }: RunEnd, { film, hasFilm }: RunSurroundings): Promise<void> {
  if (hasFilm || (status === 'completed' && film?.isUsed === true)) await film?.end();
}

/**
 * Starts the run in the required order: the phone's settings, journal, acknowledgement, stored permission of the
 * server, first line.
 */
async function follow(
  sandbox: SandboxRun,
  start: RunStart & { areReady: Promise<unknown> },
  stopAsked: AbortSignal,
): Promise<{ end: RunEnd; hasBegun: boolean }> {
  let isOver = false;
  const ended = sandbox.ended.then((end) => {
    isOver = true;
    return toRunEnd(end);
  });
  await start.areReady;
  // A run that ended during its start never began.
  await Promise.resolve();
  const isStopped = (): boolean => isOver || stopAsked.aborted;
  const hasBegun = !isOver && (await begin(sandbox, { start, ended, isStopped }));
  return { end: await ended, hasBegun };
}

interface Beginning {
  start: RunStart;
  ended: Promise<RunEnd>;
  isStopped: () => boolean;
}

async function begin(sandbox: SandboxRun, { start, ended, isStopped }: Beginning): Promise<boolean> {
  await start.journal().catch((error: unknown) => {
    const message = 'The host could not write to its data folder. Is its disk full?';
    throw new NotBegun('host_storage_failed', message, error);
  });
  if (isStopped()) return false;
  await Promise.race([start.permission(), ended]);
  if (isStopped()) return false;
  sandbox.begin();
  start.begun();
  return true;
}

/** Time reserved for the answer to reach the server, in milliseconds. */
const answerMs = 1000;

async function whenStarted(sandbox: SandboxRun, limitMs: number): Promise<void> {
  const message = `The code was not loaded within ${limitMs / 1000} s. The host may be overloaded.`;
  const onTimeout = (): Error => new NotBegun('start_timed_out', message);
  await withTimeLimit({ timeoutMs: limitMs, onTimeout }, () => sandbox.started);
}

class NotBegun extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'NotBegun';
    this.code = code;
  }
}

function getPhone(phones: PhoneWatch, serial: string): Phone {
  const phone = phones.find(serial);
  if (phone === undefined) throw new Error(`The phone ${serial} is gone.`);
  return phone;
}

function problemWithPhone(phones: PhoneWatch, serial: string): string | undefined {
  const phone = phones.find(serial);
  if (phone === undefined) return `The phone ${serial} is not connected to this host.`;
  const { state, reason } = phone.state;
  return state === 'ready' ? undefined : `The phone ${serial} is not ready (${state}): ${reason}`;
}

function hooksOf(
  task: RunTask,
  { phones, permissions, runLog, recorder, files, film, tasks }: RunSurroundings,
  { account, trace, settings }: { account: RunAccount; trace: RunTrace; settings: RunSettings },
): SandboxHooks {
  const { secrets } = task;
  const answerers = { phones, recorder, account, permissions, secrets, files, film, tasks, settings };
  const answer = answerCall({ ...answerers, phone: task });
  return {
    onLog: (entries) => runLog.push(secrets.redactLog(entries)),
    onCall: (name, params, signal) =>
      answer(name, params, signal).catch((error: unknown) => {
        account.callFailed(error);
        throw error;
      }),
    onStepBegan: (step) => trace.began(step),
    onStepEnded: (end) => trace.ended(end),
    onResult: (json) => account.setResult(secrets.redactJson(json)),
  };
}

function toRunEnd({ outcome, error }: SandboxEnd): RunEnd {
  if (error === null) return { status: outcome, error: null };
  return { ...failed(error.code, error.message, error.stack), status: outcome };
}
