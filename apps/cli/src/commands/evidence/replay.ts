import { setTimeout as pause } from 'node:timers/promises';
import path from 'node:path';
import { type Command, Option } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import {
  describeSequence,
  describeVerdict,
  type Replay,
  type ReplayedScreenView,
  replayRoutes,
  replaySets,
  type SequenceResult,
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { getAutomationId } from '../../launch/find-by-name.ts';
import { printable, printableLine, notice } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { getRecord } from './records/read-records.ts';
import { findLinkedFolder } from '../../project/project-folder.ts';
import { findKind } from '../../project/local-files.ts';
import { planPush } from '../../project/push.ts';

const pollMs = 500;

/** `phalanx replay` */
export function addReplayCommand(program: PlainCommand): void {
  serverCommand(program, 'replay', {
    about: "replay saved screens with a project's code, on a host of the service",
    json: 'print the replay and its verdicts as JSON',
    build: replayOptions,
    help: `A replay uses no phone: the code sees saved screens. Exit code 4: a screen that was known before is broken, or the run
of --record would end differently. Exit code 1: the replay itself failed, or the code threw an error.

Examples:
  phalanx replay shop
  phalanx replay shop --set all --commit 4f372a3 --changed
  phalanx replay shop --draft --group 0197c6a4-71b5-7c1e-9a52-0c2f6ad1f3aa
  phalanx replay shop --record 0197c6a4`,
    check({ commit, group, record, draft, dir }) {
      if (dir !== undefined && draft === undefined) throw usageError('--dir needs --draft: pass both.');
      if (commit !== undefined && draft !== undefined)
        throw usageError('--commit and --draft choose different code: pass only one of them.');
      if (group !== undefined && record !== undefined)
        throw usageError('--group and --record exclude each other: pass only one of them.');
    },
    run: replayProject,
  });
}

const replayOptions = (command: Command) =>
  command
    .argument('<project>', 'ID or name')
    .addOption(
      new Option(
        '--set <set>',
        'open: screens of open groups; all: screens of all groups and golden screens; golden: golden screens',
      )
        .choices(replaySets)
        .default('open'),
    )
    .option('--commit <hash>', 'use the code of this commit; default: the saved files')
    .option('--group <group>', 'only the screens of this group; --set is ignored')
    .option(
      '--record <record>',
      'replay the screens of this record in order, to see whether its run would end differently',
    )
    .option('--draft', 'use the files of this folder, pushed or not, and save nothing')
    .option(
      '--dir <dir>',
      'with --draft: the folder; default: the project folder around the current folder, or the current folder',
    )
    .option('--changed', 'list only newly recognised and newly broken screens');

async function replayProject(
  { api }: Connection,
  { set, commit, group, record, draft, dir, changed, json }: OptionsOf<typeof replayOptions> & ServerFlags,
  project: string,
): Promise<void> {
  const id = await getAutomationId(api, project);
  const body = {
    set,
    ...(commit === undefined ? {} : { commit }),
    ...(group === undefined ? {} : { group_id: group }),
    ...(record === undefined ? {} : await sequenceOf(api, record)),
    ...(draft === undefined ? {} : await readDraft(api, { id, dir })),
  };
  const { replay: started } = await api.call(replayRoutes.start, { params: { id }, body });
  const replay = await untilEnded(api, started);
  if (replay.mode === 'sequence') return tellSequence(replay, json === true);
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

/** Returns the parameters of a sequence replay. `record` is an ID, or the beginning of one. */
async function sequenceOf(api: ApiClient, record: string): Promise<{ mode: 'sequence'; record_id: string }> {
  return { mode: 'sequence', record_id: (await getRecord(api, record)).out_of_steps_id };
}

function tellSequence(replay: Replay, isJson: boolean): void {
  const { sequence } = replay;
  if (isJson) printJson({ success: replay.status === 'done', replay });
  if (sequence === null)
    throw new CommandError(exitCodes.failed, `The replay ${replay.status}. ${replay.problem}`.trim());
  const { result, own_code: own } = sequence;
  if (!isJson) console.log(printable(`With ${codeOf(replay)}: ${describeSequence(result)}.`));
  if (own === 'not_reproducible') {
    if (!isJson)
      console.log(
        'The code of the recorded run does not reproduce it either: the record proves nothing about this code.',
      );
    return;
  }
  if (own === 'not_known' && !isJson)
    console.log('The code of the recorded run is unknown, so the record may not be reproducible at all.');
  if (result.kind !== 'same')
    throw new CommandError(
      isFault(result) ? exitCodes.failed : exitCodes.outOfSteps,
      'The run would end differently.',
    );
}

const isFault = ({ kind }: SequenceResult): boolean => kind === 'threw' || kind === 'limit';

async function untilEnded(api: ApiClient, started: Replay): Promise<Replay> {
  let replay = started;
  while (replay.ended_at === null) {
    await pause(pollMs);
    ({ replay } = await api.call(replayRoutes.get, { params: { id: started.id } }));
  }
  return replay;
}

const screensOf = (count: number): string => `${count} screen${count === 1 ? '' : 's'}`;

function print(replay: Replay, verdicts: readonly ReplayedScreenView[]): void {
  const { counts, group_id: group } = replay;
  const none = counts.screens === 0 ? 'This set has no screens yet.' : 'No screen has changed.';
  printTable({ flexible: 'verdict', rows: verdicts.map(row) }, none);
  if (counts.screens === 0) return;
  const parts = [
    `${counts.known} of ${screensOf(counts.screens)}${group === null ? '' : ' of this group'} known`,
    `${counts.handled} handled`,
    `${counts.recognised} newly recognised`,
    `${counts.broken} newly broken`,
    ...(counts.not_told === 0 ? [] : [`${counts.not_told} not replayable`]),
    ...(counts.golden === 0 ? [] : [`golden ${counts.golden_expected}/${counts.golden}`]),
  ];
  console.log(printable(`With ${codeOf(replay)}: ${parts.join(', ')}.`));
  if (counts.not_told === 0) return;
  console.log(
    'A screen is replayable if the code reports its state: runStages and agent.utils.outOfSteps.storeScreen do that.',
  );
}

function codeOf({ commit, draft }: Replay): string {
  if (draft) return 'this draft';
  return commit === null ? 'the saved files' : `commit ${commit.slice(0, 8)}`;
}

const row = ({ kind, name, group_id, outcome, change, expected, verdict }: ReplayedScreenView) => ({
  screen: kind === 'golden' ? name : `group ${group_id ?? ''}`,
  outcome: outcome.replace('_', ' '),
  change: change === 'unchanged' ? '-' : `newly ${change}`,
  verdict: `${expected === null ? '' : `expected ${expected}: `}${describeVerdict(verdict)}`,
});

interface FolderDraft {
  files: { path: string; content: string }[];
  deleted: string[];
}

/** Returns the changes that a push of the folder would make. The folder's version of a file wins a conflict. */
async function readDraft(
  api: ApiClient,
  { id, dir }: { id: string; dir: string | undefined },
): Promise<FolderDraft> {
  const start = path.resolve(dir ?? '.');
  if ((await findKind(start)) !== 'folder')
    throw usageError(`${start} is not a folder: pass the folder with your code.`);
  const linked = await findLinkedFolder(start);
  if (linked !== undefined && linked.id !== id)
    throw usageError(
      `${linked.root} is the folder of another project: pass that project, or another folder.`,
    );
  const root = linked?.root ?? start;
  const { changed, gone, failed } = await planPush(api, { root, id, server_url: '' }, true);
  for (const { path: file, reason } of failed)
    notice(`Not in the draft: ${printableLine(file)}\n  ${reason}`);
  if (failed.length > 0)
    throw new CommandError(
      exitCodes.refused,
      'Nothing was replayed: correct these files, or add them to .gitignore.',
    );
  if (changed.size + gone.length === 0) notice('The folder has no changes against the server.');
  return { files: Array.from(changed, ([file, content]) => ({ path: file, content })), deleted: gone };
}
