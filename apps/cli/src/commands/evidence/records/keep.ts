import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { isUnknownState, type OutOfStepsRecord, type ScreenTree } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../../connection/connection.ts';
import { type OptionsOf, serverCommand } from '../../../connection/server-command.ts';
import { usageError } from '../../../exit-codes.ts';
import { getRecord } from './read-records.ts';
import { readTree } from './read-tree.ts';

type Flags = OptionsOf<typeof keepOptions>;

function parseNumber(text: string): number {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return number;
  throw new InvalidArgumentError('Expected the number of a screen, from 1.');
}

/** `phalanx records keep` */
export function addKeepCommand(records: PlainCommand): void {
  serverCommand(records, 'keep', {
    about: 'save a screen of a record as a golden screen in the current project folder',
    json: false,
    build: keepOptions,
    help: `Typed text, numbers and long texts are replaced by placeholders of the same length, unless the code needs them to
recognise the screen. masks.json applies.

A golden run is saved only if the code of this folder behaves as in the record.

Examples:
  phalanx records keep 0199 --state Checkout && phalanx test
  phalanx records keep 0199 --run --name checkout`,
    run: keepRecord,
  });
}

const keepOptions = (command: Command) =>
  command
    .argument('<record>', 'record ID, or its beginning (at least 4 characters)')
    .option(
      '--screen <number>',
      'number of the screen in "phalanx records show"; default: the last one',
      parseNumber,
    )
    .option('--run', 'save all screens of the record in order, as a golden run')
    .option('--state <state>', 'state that the code must recognise; default: the recorded state')
    .option('--name <name>', 'file name; default: made of model, Android version and record ID')
    .option('--force', 'replace an existing file');

async function keepRecord({ api }: Connection, flags: Flags, id: string): Promise<void> {
  const record = await getRecord(api, id);
  if (flags.run) return keepWholeRecord(record, flags);
  const number = flags.screen ?? record.screens.length;
  const screen = record.screens[number - 1];
  if (screen === undefined) throw usageError(`The record has ${record.screens.length} screens.`);
  const state = flags.state ?? screen.screenState;
  if (flags.state === undefined && isUnknownState(state))
    throw usageError('The screen was unknown: pass --state with the state that the code must recognise.');
  const tree = await readCapturedTree(screen.uiUrl);
  const { keepScreen } = await import('../../../golden/keep-screen.ts');
  await keepScreen({
    tree,
    state,
    name: flags.name ?? nameOf(record, number),
    ...(record.type === 'debug' ? {} : { stage: screen.nextStage }),
    from: sourceOf(record, screen),
    ...(flags.force ? { isForced: true } : {}),
  });
}

async function keepWholeRecord(
  record: OutOfStepsRecord,
  { screen, state, name, force }: Flags,
): Promise<void> {
  if (screen !== undefined || state !== undefined)
    throw usageError('--run keeps all screens with their states: omit --screen and --state.');
  const screens = await Promise.all(
    record.screens.map(async ({ uiUrl, screenState, nextStage: stage, actions: calls }) => {
      return { state: screenState, stage, calls, tree: await readCapturedTree(uiUrl) };
    }),
  );
  if (screens.length === 0) throw usageError('The record has no screens.');
  const { keepRun } = await import('../../../golden/keep-run.ts');
  const { out_of_steps_id: id, device_info: device } = record;
  await keepRun({
    golden: { from: originOf(record), ends: endOf(record), screens },
    name: name ?? `${device.model}-${device.android_version}-${id.slice(-6)}`.toLowerCase(),
    ...(force ? { isForced: true } : {}),
  });
}

/** Returns how the run ended, for a replay of the record in order. */
function endOf({ type, error }: OutOfStepsRecord): 'submits' | 'throws' | null {
  if (type === 'crash') return 'throws';
  return type === 'outOfSteps' || (type === 'timeout' && error === null) ? 'submits' : null;
}

async function readCapturedTree(url: string | null): Promise<ScreenTree> {
  if (url === null) throw usageError('The tree of this screen was not captured: choose another --screen.');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host stored this tree
  return (await readTree(url)) as ScreenTree;
}

const nameOf = ({ device_info: device, out_of_steps_id: id }: OutOfStepsRecord, number: number): string =>
  `${device.model}-${device.android_version}-${id.slice(-6)}-${number}`.toLowerCase();

const originOf = ({
  out_of_steps_id: record,
  device_info: { brand, model, android_version: android },
}: OutOfStepsRecord): Record<string, string> => ({ record, device: `${brand} ${model}`, android });

const sourceOf = (
  record: OutOfStepsRecord,
  { _id: screen }: OutOfStepsRecord['screens'][number],
): Record<string, string> => ({ ...originOf(record), screen });
