import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '@phalanx/settings';
import {
  type SandboxCommand,
  type SandboxLogEntry,
  type SandboxLogRate,
  type SandboxReport,
  agentCalls,
  type AgentCallName,
  findSchemaProblem,
  type SandboxCallResult,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import { Compile, type Validator } from 'typebox/compile';
import type { ChildExit, SandboxChild } from '../process/confined-child.ts';
import type {
  SandboxEnd,
  SandboxHooks,
  SandboxJob,
  SandboxLimits,
  SandboxRun,
  StepBegan,
} from '../sandbox-job.ts';
import { TokenBucket } from '../../time/token-bucket.ts';
import { watchMemory } from './memory-watch.ts';
import { crashed, outOfMemory, timedOut, failed } from './run-end.ts';
import { follow } from '../../time/time-limit.ts';

/** Time in milliseconds for a child to send its last reports after a stop. */
const stopGraceMs = 300;
/** Maximum delay of a Node timer. */
const maxTimerMs = 2 ** 31 - 1;

const maxBatchEntries = 1000;

/** Everything that a run needs besides its job. */
interface RunSetting {
  job: SandboxJob;
  hooks: SandboxHooks;
  command: Extract<SandboxCommand, { type: 'job' }>;
  log: Logger | undefined;
}

/** Gives a ready child its job and follows it to its end. */
export function runInChild(child: SandboxChild, setting: RunSetting): SandboxRun {
  const { limits } = setting.job;
  const started = Promise.withResolvers<void>();
  const timers: NodeJS.Timeout[] = [];
  const facts: RunFacts = { end: undefined, asked: undefined, limits };

  const gate = createAgentCallGate(setting.hooks, (id, result) => child.send({ type: 'result', id, result }));
  const finish = (end: SandboxEnd): void => {
    facts.end ??= end;
    reader.release();
    child.kill();
  };
  const reader = createReportReader(
    {
      onLog: (entries) => setting.hooks.onLog(entries),
      onLoaded: started.resolve,
      onCall: (call) => void gate.take(call),
      onCancel: gate.cancel,
      onStepBegan: (began) => setting.hooks.onStepBegan?.(began),
      onStepEnded: (end) => setting.hooks.onStepEnded?.(end),
      onResult: (json) => {
        // Throws for invalid JSON, which ends the child: only a compromised child sends it.
        JSON.parse(json);
        setting.hooks.onResult(json);
      },
      onEnd: finish,
    },
    setting.command.logRate,
  );
  const askToEnd = (outcome: 'stopped' | 'timed_out'): void => {
    if (facts.asked !== undefined || facts.end !== undefined) return;
    facts.asked = outcome;
    reader.release();
    child.send({ type: 'stop' });
    // Follows the stop, so that the code no longer sees how its calls end.
    gate.end();
    timers.push(setTimeout(() => child.kill(), stopGraceMs));
  };
  const stopMemoryWatch = watchMemory(child, limits.memoryMb, () => finish(outOfMemory(limits.memoryMb)));
  child.onReports = reader.read;
  child.send(setting.command);

  return {
    started: started.promise,
    begin() {
      // Automations mostly wait for phones. When they compute, everything else takes precedence, including other
      // starts.
      child.giveWay();
      child.send({ type: 'begin' });
      timers.push(setTimeout(() => askToEnd('timed_out'), Math.min(limits.durationMs, maxTimerMs)));
    },
    stop: () => askToEnd('stopped'),
    ended: child.exited.then((exit) => {
      timers.forEach(clearTimeout);
      stopMemoryWatch();
      gate.end();
      started.resolve();
      if (facts.end === undefined && facts.asked === undefined)
        setting.log?.warn({ ...exit, runId: setting.job.runId }, 'a sandbox process has crashed');
      return endOf(facts, exit);
    }),
  };
}

interface RunFacts {
  /** End that the child reported last, or for which the host ended it. */
  end: SandboxEnd | undefined;
  /** Request of the host to the child. */
  asked: 'stopped' | 'timed_out' | undefined;
  limits: SandboxLimits;
}

function endOf({ end, asked, limits }: RunFacts, exit: ChildExit): SandboxEnd {
  if (end !== undefined && end.outcome !== 'stopped') return end;
  if (asked === 'timed_out') return { outcome: 'timed_out', error: timedOut(limits.durationMs).error };
  if (asked === 'stopped') return { outcome: 'stopped', error: null };
  return crashed(exit, limits.memoryMb);
}

type Call = Extract<SandboxReport, { type: 'call' }>;

/** Callbacks for a child's reports. */
interface ReportTakers {
  onLog: SandboxHooks['onLog'];
  onLoaded: () => void;
  onCall: (call: Call) => void;
  onCancel: (callId: number) => void;
  onStepBegan: (began: StepBegan) => void;
  onStepEnded: (end: unknown) => void;
  onResult: (json: string) => void;
  onEnd: (end: SandboxEnd) => void;
}

interface ReportReader {
  read: SandboxChild['onReports'];
  /**
   * Ends all waiting. A child that is being stopped has few reports left; of a flooding child, at most one burst is
   * accepted.
   */
  release(): void;
}

/**
 * Dispatches the reports of a child in order. The child throttles its own log; the same rate limit is enforced here for
 * a compromised child.
 */
function createReportReader(takers: ReportTakers, rate: SandboxLogRate): ReportReader {
  const lines = new TokenBucket(rate.linesPerSecond, rate.burstLines);
  const bytes = new TokenBucket(rate.bytesPerSecond, rate.burstBytes);
  const hold = createHold();
  let takenAfterRelease = 0;

  const handOver = async (entries: SandboxLogEntry[]): Promise<void> => {
    try {
      await takers.onLog(entries);
    } catch {
      takers.onEnd(failed('log_not_taken', 'The host could not take the log of the automation.'));
    }
    const sizeBytes = entries.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0);
    const waitMs = Math.max(lines.take(entries.length), bytes.take(sizeBytes));
    if (waitMs >= 1) await delay(waitMs, undefined, { ref: false });
  };
  const takeLog = async (entries: SandboxLogEntry[]): Promise<void> => {
    if (hold.isReleased()) takenAfterRelease += entries.length;
    if (entries.length > 0 && takenAfterRelease <= rate.burstLines) await hold.until(handOver(entries));
  };

  return {
    release: () => hold.release(),
    async read(batch) {
      let entries: SandboxLogEntry[] = [];
      for (const report of batch) {
        if (report.type === 'log') entries.push(report.entry);
        if (report.type !== 'log' || entries.length === maxBatchEntries) {
          await takeLog(entries);
          entries = [];
        }
        if (report.type === 'loaded') takers.onLoaded();
        else if (report.type === 'call') takers.onCall(report);
        else if (report.type === 'cancel') takers.onCancel(report.id);
        else if (report.type === 'stepBegan') takers.onStepBegan(report);
        else if (report.type === 'stepEnded') takers.onStepEnded(report.end);
        else if (report.type === 'result') takers.onResult(report.json);
        else if (report.type === 'ended') takers.onEnd({ outcome: report.outcome, error: report.error });
      }
      await takeLog(entries);
    },
  };
}

/** Waits for one promise at a time, until it is released for good. */
function createHold() {
  let released = false;
  let letGo = (): void => {};
  return {
    isReleased: () => released,
    async until(work: Promise<void>): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      letGo = resolve;
      void work.then(resolve, resolve);
      if (!released) await promise;
    },
    release(): void {
      released = true;
      letGo();
    },
  };
}

/** Maximum number of pending calls of one run. The child enforces the same limit, unless it is compromised. */
const maxCalls = 64;

const validators = new Map<string, Validator>(
  Object.entries(agentCalls).map(([name, { params }]) => [name, Compile(params)]),
);

/** Validates the calls of one child and passes them to `onCall`, each with its own signal. Every call is answered. */
export function createAgentCallGate(
  hooks: Pick<SandboxHooks, 'onCall'>,
  answer: (id: number, result: SandboxCallResult) => void,
) {
  const ended = new AbortController();
  const running = new Map<number, AbortController>();
  let waiting = 0;

  const run = async ({ id, name, params }: Call): Promise<SandboxCallResult> => {
    const call = new AbortController();
    const unfollow = follow(ended.signal, call);
    running.set(id, call);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- name and parameters were validated
    const result = await resultOf(() => hooks.onCall(name as AgentCallName, params as never, call.signal));
    running.delete(id);
    unfollow();
    return result;
  };

  return {
    async take(call: Call): Promise<void> {
      const { id, name, params } = call;
      const problem =
        problemOf(name, params) ?? (waiting >= maxCalls ? 'Too many calls at a time.' : undefined);
      if (problem !== undefined) return answer(id, refusal('invalid_call', problem));
      waiting += 1;
      answer(id, await run(call));
      waiting -= 1;
    },
    cancel: (id: number) => running.get(id)?.abort(new Error('The automation has given it up.')),
    end: () => ended.abort(new Error('The run has ended.')),
  };
}

function problemOf(name: string, params: unknown): string | undefined {
  const validator = validators.get(name);
  if (validator === undefined) return `The phone knows no call ${name}.`;
  if (validator.Check(params)) return undefined;
  const found = findSchemaProblem(validator.Type(), params);
  return `${name}: ${found?.field || 'what was given'} ${found?.problem ?? 'does not have the required form'}.`;
}

async function resultOf(call: () => Promise<unknown>): Promise<SandboxCallResult> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    const message = errorText(error);
    return refusal(codeOf(error), message);
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'call_failed';
}

function refusal(code: string, message: string): SandboxCallResult {
  return { ok: false, error: { code, message } };
}
