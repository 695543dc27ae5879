import {
  describeVerdict,
  type Replay,
  type ReplayedScreenView,
  replayRoutes,
  type ReplaySet,
  replaySets,
} from '@phalanx/protocol';
import { type Command, Option } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';

import type { ApiClient } from '../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { getAutomationId } from '../../launch/find-project.ts';
import { printable } from '../../output/printable.ts';
import { printJson, printTable } from '../../output/table.ts';
import { readAll } from '../../read-all.ts';

interface Flags extends ConnectionFlags {
  set: ReplaySet;
  commit?: string;
  changed?: true;
  json?: true;
}

const pollMs = 500;

/** `phalanx replay` */
export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description('replay saved screens with the code of a project, on a host of the service')
    .argument('<project>', 'ID or name')
    .addOption(
      new Option('--set <set>', 'screens of open groups, of all groups and golden ones, or golden ones')
        .choices(replaySets)
        .default('open'),
    )
    .option('--commit <hash>', 'with the code of this commit; default: the saved files')
    .option('--changed', 'list only screens that are newly recognised or newly broken')
    .option('--json', 'print the replay and its verdicts as the API gives them')
    .addHelpText(
      'after',
      `
Nothing is done to a phone: the code sees saved screens. Exit code 4: a screen is broken that was known before; 1: the
replay itself failed.

Examples:
  phalanx replay shop
  phalanx replay shop --set all --commit 4f372a3 --changed`,
    )
    .action(replayProject);
  addConnectionOptions(command);
}

async function replayProject(
  project: string,
  { set, commit, changed, json, ...flags }: Flags,
): Promise<void> {
  const { api } = await connect(flags);
  const id = await getAutomationId(api, project);
  const body = { set, ...(commit === undefined ? {} : { commit }) };
  const { replay: started } = await api.call(replayRoutes.start, { params: { id }, body });
  const replay = await untilEnded(api, started);
  const verdicts = await readAll(
    (page) =>
      api.call(replayRoutes.listVerdicts, {
        params: { id: replay.id },
        query: { ...page, ...(changed === undefined ? {} : { changed: 'true' as const }) },
      }),
    (page) => page.verdicts,
  );
  if (json) printJson({ success: replay.status === 'done', replay, verdicts });
  else print(replay, verdicts);
  if (replay.status !== 'done')
    throw new CommandError(exitCodes.failed, `The replay ${replay.status}. ${replay.problem}`.trim());
  if (replay.counts.broken > 0)
    throw new CommandError(
      exitCodes.outOfSteps,
      `${screensOf(replay.counts.broken)} that ${replay.counts.broken === 1 ? 'was' : 'were'} known before ${replay.counts.broken === 1 ? 'is' : 'are'} not known now.`,
    );
}

async function untilEnded(api: ApiClient, started: Replay): Promise<Replay> {
  let replay = started;
  while (replay.ended_at === null) {
    await pause(pollMs);
    ({ replay } = await api.call(replayRoutes.get, { params: { id: started.id } }));
  }
  return replay;
}

const screensOf = (count: number): string => `${count} screen${count === 1 ? '' : 's'}`;

function print({ counts, commit }: Replay, verdicts: readonly ReplayedScreenView[]): void {
  const none = counts.screens === 0 ? 'There is no screen in this set yet.' : 'No screen has changed.';
  printTable({ flexible: 'verdict', rows: verdicts.map(row) }, none);
  if (counts.screens === 0) return;
  const parts = [
    `${counts.known} of ${screensOf(counts.screens)} known`,
    `${counts.recognised} newly recognised`,
    `${counts.broken} newly broken`,
    ...(counts.not_told === 0 ? [] : [`${counts.not_told} not replayable`]),
  ];
  const code = commit === null ? 'the saved files' : `commit ${commit.slice(0, 7)}`;
  console.log(printable(`With ${code}: ${parts.join(', ')}.`));
  if (counts.not_told === 0) return;
  console.log(
    'A screen is replayable when the code tells what it takes it for: runStages does, and agent.utils.outOfSteps.storeScreen.',
  );
}

const row = ({ kind, name, group_id, outcome, change, expected, verdict }: ReplayedScreenView) => ({
  screen: kind === 'golden' ? name : `group ${group_id ?? ''}`,
  outcome: outcome.replace('_', ' '),
  change: change === 'unchanged' ? '-' : `newly ${change}`,
  verdict: `${expected === null ? '' : `expected ${expected}: `}${describeVerdict(verdict)}`,
});
