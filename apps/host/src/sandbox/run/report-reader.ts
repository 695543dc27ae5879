import { setTimeout as delay } from 'node:timers/promises';

import type { SandboxLogEntry, SandboxLogRate, SandboxReport } from '@phalanx/protocol';

import { createTokenBucket } from '../../time/token-bucket.ts';
import type { SandboxChild } from '../process/sandbox-child.ts';
import type { SandboxEnd, SandboxHooks, StepBegan } from '../sandbox-job.ts';
import { failed } from './run-end.ts';

const maxBatchEntries = 1000;

type Call = Extract<SandboxReport, { type: 'call' }>;

/** Who is told what a child reports. */
export interface ReportTakers {
  onLog: SandboxHooks['onLog'];
  onLoaded: () => void;
  onCall: (call: Call) => void;
  onCancel: (callId: number) => void;
  onStepBegan: (began: StepBegan) => void;
  onStepEnded: (end: unknown) => void;
  onResult: (json: string) => void;
  onEnd: (end: SandboxEnd) => void;
}

export interface ReportReader {
  read: SandboxChild['onReports'];
  /**
   * From now on nothing waits. What a child that is being ended has still said is small; of one that floods, no more
   * than a burst is taken.
   */
  release(): void;
}

/**
 * Sorts what a child reports, in its order. The child holds itself to its log rate; it is held to it here once more,
 * for a child that was taken over.
 */
export function createReportReader(takers: ReportTakers, rate: SandboxLogRate): ReportReader {
  const takeLines = createTokenBucket(rate.linesPerSecond, rate.burstLines);
  const takeBytes = createTokenBucket(rate.bytesPerSecond, rate.burstBytes);
  const hold = createHold();
  let takenAfterRelease = 0;

  const handOver = async (entries: SandboxLogEntry[]): Promise<void> => {
    try {
      await takers.onLog(entries);
    } catch {
      takers.onEnd(failed('log_not_taken', 'The host could not take the log of the automation.'));
    }
    const sizeBytes = entries.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0);
    const waitMs = Math.max(takeLines(entries.length), takeBytes(sizeBytes));
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

/** Waits for one thing at a time, until it is released for good. */
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
