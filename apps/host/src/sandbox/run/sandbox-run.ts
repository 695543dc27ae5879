import type { SandboxCommand } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ChildExit } from '../process/confined-child.ts';
import type { SandboxChild } from '../process/sandbox-child.ts';
import type { SandboxEnd, SandboxHooks, SandboxJob, SandboxLimits, SandboxRun } from '../sandbox-job.ts';
import { createAgentCallGate } from './agent-call-gate.ts';
import { watchMemory } from './memory-watch.ts';
import { createReportReader } from './report-reader.ts';
import { crashed, outOfMemory, timedOut } from './run-end.ts';

/** A child that was asked to end gets so long to say what it still has to say. */
const stopGraceMs = 300;
/** The longest that a timer of Node can wait. */
const maxTimerMs = 2 ** 31 - 1;

/** Everything a run needs beside its job. */
export interface RunSetting {
  job: SandboxJob;
  hooks: SandboxHooks;
  command: Extract<SandboxCommand, { type: 'job' }>;
  log: Logger | undefined;
}

/** Gives a ready child its one job and follows it to its end. */
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
        // What throws here ends the child: only one that was taken over sends what is no JSON.
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
    // After the stop, so that the code no longer sees how its calls end.
    gate.end();
    timers.push(setTimeout(() => child.kill(), stopGraceMs));
  };
  const stopMemoryWatch = watchMemory(child, limits.memoryMb, () => finish(outOfMemory(limits.memoryMb)));
  child.onReports = reader.read;
  child.send(setting.command);

  return {
    started: started.promise,
    begin() {
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
  /** What the child said last, or why the host ended it. */
  end: SandboxEnd | undefined;
  /** What the host asked the child for. */
  asked: 'stopped' | 'timed_out' | undefined;
  limits: SandboxLimits;
}

function endOf({ end, asked, limits }: RunFacts, exit: ChildExit): SandboxEnd {
  if (end !== undefined && end.outcome !== 'stopped') return end;
  if (asked === 'timed_out') return { outcome: 'timed_out', error: timedOut(limits.durationMs).error };
  if (asked === 'stopped') return { outcome: 'stopped', error: null };
  return crashed(exit, limits.memoryMb);
}
