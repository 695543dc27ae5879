import { isUnknownState, type OutOfStepsRecord, type ScreenTree } from '@phalanx/protocol';
import { type Command, InvalidArgumentError } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { usageError } from '../../../exit-codes.ts';
import { getRecord } from './read-records.ts';

interface Flags extends ConnectionFlags {
  run?: true;
  screen?: number;
  state?: string;
  name?: string;
  force?: true;
}

function parseNumber(text: string): number {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return number;
  throw new InvalidArgumentError('Give the number of a screen, from 1.');
}

/** `phalanx records keep` */
export function addKeepCommand(records: Command): void {
  const command = records
    .command('keep')
    .description('keep a screen of a record in the project folder that you are in, as a golden screen')
    .argument('<record>', 'its ID, or how that begins')
    .option(
      '--screen <number>',
      'which one, as "records show" numbers them; by default the last',
      parseNumber,
    )
    .option('--run', 'all of its screens in their order, as a golden run')
    .option('--state <state>', 'what the code has to take it for; by default what it has taken it for')
    .option('--name <name>', 'of the file; by default of model, Android version and record')
    .option('--force', 'replace a file of that name')
    .addHelpText(
      'after',
      `
What persons have typed, numbers and long texts become letters of the same length, unless the code needs them to know
the screen; masks.json is kept to.

A golden run is kept when the code of this folder does with its screens what the record tells.

Examples:
  phalanx records keep 0199 --state Checkout && phalanx test
  phalanx records keep 0199 --run --name checkout`,
    )
    .action(keepRecord);
  addConnectionOptions(command);
}

async function keepRecord(id: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const record = await getRecord(api, id);
  if (flags.run) return keepWholeRecord(record, flags);
  const number = flags.screen ?? record.screens.length;
  const screen = record.screens[number - 1];
  if (screen === undefined) throw usageError(`The record has ${record.screens.length} screens.`);
  const state = flags.state ?? screen.screenState;
  if (flags.state === undefined && isUnknownState(state))
    throw usageError('The screen was unknown: give --state with what the code has to take it for.');
  const tree = await readTree(screen.uiUrl);
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
    throw usageError('--run keeps all screens as they are: leave --screen and --state out.');
  const screens = await Promise.all(
    record.screens.map(async ({ uiUrl, screenState, nextStage: stage, actions: calls }) => {
      return { state: screenState, stage, calls, tree: await readTree(uiUrl) };
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

/** End of the run for a replay of the record in order. */
function endOf({ type, error }: OutOfStepsRecord): 'submits' | 'throws' | null {
  if (type === 'crash') return 'throws';
  return type === 'outOfSteps' || (type === 'timeout' && error === null) ? 'submits' : null;
}

async function readTree(url: string | null): Promise<ScreenTree> {
  if (url === null)
    throw usageError('The tree of this screen could not be captured: choose another --screen.');
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server gave no tree: ${response.status}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the host has stored it
  return (await response.json()) as ScreenTree;
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
