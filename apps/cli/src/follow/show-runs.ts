import { writeFile } from 'node:fs/promises';
import type { ApiClient } from '@phalanx/client/api-client';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Device, LogEntry, Run } from '@phalanx/protocol';

import { CommandError, exitCodes } from '../exit-codes.ts';
import { serialOf } from '../launch/find-by-name.ts';
import { junitReport, type JunitCase } from '../output/junit.ts';
import { describeEnd, printLogEntry } from '../output/run-text.ts';
import { notice } from '../output/terminal.ts';
import { unlessInterrupted } from '../until-signal.ts';
import { followToEnd, type FollowedRun, type RunListener } from './follow-to-end.ts';

interface Show {
  readonly serverUrl: string;
  readonly runs: readonly FollowedRun[];
  readonly devices: readonly Device[];
  /** Prints the service's `log` and `run` events instead, one a line. */
  readonly json: boolean;
  readonly stopCommand: string;
  /** JUnit report: its file, and the name of its suite. */
  readonly report: { readonly file: string; readonly name: string } | undefined;
}

/** Prints the logs of these runs until all have ended. Throws unless all have succeeded. */
export async function showRuns(api: ApiClient, show: Show): Promise<void> {
  const ended = await unlessInterrupted(
    followToEnd(api, show.runs, show.json ? jsonListener : textListener(show)),
    `Stopped following; the runs continue. To stop them, run: ${show.stopCommand}`,
  );
  if (show.report !== undefined) await writeReport(show.report, ended, show);
  throwUnlessDone(ended);
}

function throwUnlessDone(ended: readonly Run[]): void {
  const which = (runs: readonly Run[]): string =>
    ended.length === 1 ? 'The run' : `${runs.length} of ${ended.length} runs`;
  const failed = ended.filter(({ status }) => status !== 'completed');
  if (failed.length > 0) throw new CommandError(exitCodes.failed, `${which(failed)} did not complete.`);
  const lost = ended.filter(({ outcome }) => outcome !== 'succeeded');
  if (lost.length === 0) return;
  const message = `${which(lost)} met an unknown screen or ran out of steps: "phalanx records list" lists the records.`;
  throw new CommandError(exitCodes.outOfSteps, message);
}

async function writeReport(
  { file, name }: NonNullable<Show['report']>,
  runs: readonly Run[],
  { devices, serverUrl }: Show,
): Promise<void> {
  const cases = runs.map((run) =>
    caseOf({ suite: name, device: serialOf(devices, run.device_id), serverUrl }, run),
  );
  await writeFile(file, junitReport(cases));
}

const jsonListener: RunListener = {
  onEntries: (deviceId, logs) => console.log(JSON.stringify({ type: 'log', device_id: deviceId, logs })),
  onEnd: (run) => console.log(JSON.stringify({ type: 'run', run })),
};

function textListener({ runs, devices }: Show): RunListener {
  const prefixOf = (deviceId: string): string => (runs.length === 1 ? '' : serialOf(devices, deviceId));
  return {
    onEntries(deviceId: string, entries: readonly LogEntry[]) {
      for (const entry of entries) printLogEntry(entry, prefixOf(deviceId));
    },
    onEnd: (run: Run) => notice(`${serialOf(devices, run.device_id)}: the run ${describeEnd(run)}.`),
  };
}

interface CaseHead {
  readonly suite: string;
  readonly device: string;
  readonly serverUrl: string;
}

/** Returns the test case of a run. Its text has no separate message, because the stack begins with it. */
function caseOf({ suite, device, serverUrl }: CaseHead, run: Run): JunitCase {
  const head = { suite, name: device, durationMs: durationMs(run) };
  if (run.outcome === 'succeeded') return head;
  const message = describeEnd(run);
  const lines = [`${serverUrl}/runs/${run.run_id}`, run.error?.stack].filter(Boolean);
  const type = run.error?.code ?? run.outcome ?? run.status;
  return { ...head, failure: { type, message, text: lines.join('\n') } };
}

const durationMs = ({ started_at: startedAt, ended_at: endedAt }: Run): number =>
  startedAt === null || endedAt === null ? 0 : endedAt - startedAt;

interface FollowFlags {
  follow?: true;
  junit?: string;
}

export const addFollowOptions = <Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) =>
  command
    .option('-f, --follow', 'print the logs of all devices until every run has ended')
    .option('--junit <file>', 'follow the runs, and write a JUnit report with a test case for each device');

export const follows = ({ follow, junit }: FollowFlags): boolean => follow === true || junit !== undefined;
