import type { AgentCallName, AgentCallParams, AgentCallResult } from '@phalanx/protocol';

import type { Logger } from 'pino';

import { withTimeLimit } from '../adb/time-limit.ts';
import type { PhoneWatch } from '../phones/watch-phones.ts';
import type { RunLog } from '../logs/run-log.ts';
import type { SandboxEnd, SandboxHooks, SandboxJob, SandboxPool, SandboxRun } from '../sandbox/index.ts';
import { callPhone } from './call-phone.ts';
import { failed, type RunEnd } from './run-record.ts';

/** Below the 10 s that the server waits for the acknowledgement: a run that is late must not begin after all. */
const startTimeoutMs = 9000;

/** One run to execute. */
export interface RunTask {
  job: SandboxJob;
  deviceId: string;
  serial: string;
}

export interface RunSurroundings {
  phones: PhoneWatch;
  pool: SandboxPool;
  runLog: RunLog;
  /** The host's own log. */
  log: Logger;
  /** The code is in the sandbox: writes down, durably, that the run begins. Gives what tells the server so. */
  journalStart: () => Promise<() => void>;
}

export interface Execution {
  /** Asks the run to end, at any moment. */
  stop(): void;
  /** Never rejects. */
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
  const problem = problemWithPhone(surroundings.phones, task.serial);
  if (problem !== undefined) return failed('device_unavailable', problem);
  const sandbox = surroundings.pool.start(task.job, hooksOf(task, surroundings));
  const stop = (): void => {
    sandbox.stop();
    surroundings.runLog.letGo();
  };
  stopAsked.addEventListener('abort', stop, { once: true });
  try {
    return await follow(sandbox, surroundings.journalStart, stopAsked);
  } catch (error) {
    stop();
    await sandbox.ended;
    throw error;
  }
}

/** The order counts: journal, acknowledgement, first line. */
async function follow(
  sandbox: SandboxRun,
  journalStart: RunSurroundings['journalStart'],
  stopAsked: AbortSignal,
): Promise<RunEnd> {
  let isOver = false;
  const ended = sandbox.ended.then((end) => {
    isOver = true;
    return toRunEnd(end);
  });
  await whenStarted(sandbox);
  // A run that ended while it was started never began.
  await Promise.resolve();
  if (!isOver) await begin(sandbox, journalStart, () => isOver || stopAsked.aborted);
  return ended;
}

async function begin(
  sandbox: SandboxRun,
  journalStart: RunSurroundings['journalStart'],
  isOver: () => boolean,
): Promise<void> {
  const acknowledge = await journalStart().catch((error: unknown) => {
    const message = 'The host could not write to its data folder. Is its disk full?';
    throw new NotBegun('host_storage_failed', message, error);
  });
  if (isOver()) return;
  acknowledge();
  sandbox.begin();
}

async function whenStarted(sandbox: SandboxRun): Promise<void> {
  const message = `The code was not loaded within ${startTimeoutMs / 1000} s. The host may be overloaded.`;
  const onTimeout = (): Error => new NotBegun('start_timed_out', message);
  await withTimeLimit({ timeoutMs: startTimeoutMs, onTimeout }, () => sandbox.started);
}

class NotBegun extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'NotBegun';
    this.code = code;
  }
}

function problemWithPhone(phones: PhoneWatch, serial: string): string | undefined {
  const phone = phones.find(serial);
  if (phone === undefined) return `The phone ${serial} is not connected to this host.`;
  const { state, reason } = phone.state;
  return state === 'ready' ? undefined : `The phone ${serial} is not ready (${state}): ${reason}`;
}

function hooksOf(task: RunTask, { phones, runLog }: RunSurroundings): SandboxHooks {
  return {
    onLog: (entries) => runLog.push(entries),
    onCall: <Name extends AgentCallName>(
      name: Name,
      params: AgentCallParams<Name>,
      signal: AbortSignal,
    ): Promise<AgentCallResult<Name>> => callPhone(phones, task, { name, params, signal }),
  };
}

function toRunEnd({ outcome, error }: SandboxEnd): RunEnd {
  if (error === null) return { status: outcome, error: null };
  return { ...failed(error.code, error.message), status: outcome };
}
