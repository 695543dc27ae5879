import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { readPages } from '@phalanx/client/read-all';
import { type RunStep, traceRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { serverCommand } from '../../connection/server-command.ts';
import { getRunId } from '../../follow/find-runs.ts';
import { printTable } from '../../output/table.ts';

/** `phalanx trace`: prints the steps of a run. */
export function addTraceCommand(program: PlainCommand): void {
  serverCommand(program, 'trace', {
    about: 'print the steps of a run: each call of agent, how long it took and how it ended',
    json: "print the API's steps, one per line",
    build: (command: Command) =>
      command
        .argument('<run>', 'run ID, or its beginning or end (at least 4 characters)')
        .option('--failed', 'only steps that did not succeed'),
    help: `Steps that did not succeed are marked with > and explained below the table. Times are relative to the first step.

Examples:
  phalanx trace 83335275374f
  phalanx trace 83335275374f --json | jq -r 'select(.outcome != "ok") | .message'`,
    async run({ api }, { failed, json }, run) {
      const runId = await getRunId(api, run);
      const { steps, filmParts, isTruncated } = await readSteps(api, runId);
      const shown = failed ? steps.filter(hasFailed) : steps;
      if (json) return shown.forEach((step) => console.log(JSON.stringify(step)));
      printSteps(shown, steps[0]?.timestamp ?? 0);
      if (filmParts > 0)
        console.log(
          `\nThe run has a film: "phalanx runs film ${runId} --download FOLDER" downloads its pictures and videos.`,
        );
      if (isTruncated)
        console.log(
          '\nSteps in the middle are missing: only the beginning and the end of a long trace are kept.',
        );
    },
  });
}

const hasFailed = ({ outcome }: RunStep): boolean => outcome !== 'ok';

/** Reads all steps, in the order in which they began. */
async function readSteps(
  api: ApiClient,
  runId: string,
): Promise<{ steps: RunStep[]; filmParts: number; isTruncated: boolean }> {
  const steps: RunStep[] = [];
  let filmParts = 0;
  let isTruncated = false;
  const trace = readPages(({ cursor }) =>
    api.call(traceRoutes.read, {
      params: { id: runId },
      query: cursor === undefined ? {} : { from: cursor },
    }),
  );
  for await (const page of trace) {
    steps.push(...page.steps);
    filmParts += page.film.length + page.film_videos.length;
    isTruncated = page.truncated;
  }
  return { steps: steps.toSorted((one, other) => one.step - other.step), filmParts, isTruncated };
}

function printSteps(steps: readonly RunStep[], beganAt: number): void {
  const numbered = new Map(steps.map((one) => [one.step, one]));
  const rows = steps.map((step) => rowOf(step, { beganAt, depth: depthOf(step, numbered) }));
  printTable(
    { flexible: 'target', rows },
    'No steps: the run did not call agent, or its trace was deleted because of its age.',
  );
  for (const step of steps.filter(hasFailed)) printFailure(step);
}

function depthOf({ parent }: RunStep, steps: ReadonlyMap<number, RunStep>): number {
  const above = parent === undefined ? undefined : steps.get(parent);
  return above === undefined ? 0 : 1 + depthOf(above, steps);
}

function rowOf(
  step: RunStep,
  { beganAt, depth }: { beganAt: number; depth: number },
): Readonly<Record<string, string>> {
  const { readings = 0 } = step;
  return {
    ' ': hasFailed(step) ? '>' : '',
    step: String(step.step),
    at: seconds(step.timestamp - beganAt),
    took: seconds(step.duration_ms),
    call: '  '.repeat(depth) + step.name,
    target: targetOf(step),
    readings: readings > 1 ? String(readings) : '',
    outcome: step.outcome,
    source: sourceOf(step),
  };
}

function targetOf({ target, point, swipe }: RunStep): string {
  if (target !== undefined) return target;
  if (point !== undefined) return point.join(',');
  return swipe === undefined ? '' : `${swipe.slice(0, 2).join(',')} to ${swipe.slice(2).join(',')}`;
}

function sourceOf({ path, line_number: line }: RunStep): string {
  if (line === 0) return '';
  return path === null ? `line ${line}` : `${path}:${line}`;
}

function printFailure(step: RunStep): void {
  const { message, nearest = [] } = step;
  console.log(`\nStep ${step.step} (${step.name} ${targetOf(step)}): ${message ?? step.outcome}`);
  if (nearest.length > 0) console.log(`Nearest: ${nearest.map((text) => `"${text}"`).join(', ')}`);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
