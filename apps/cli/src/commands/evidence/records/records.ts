import { spawn } from 'node:child_process';
import { type Command, Option, InvalidArgumentError } from 'commander';
import {
  type Device,
  recordStatuses,
  recordTypes,
  type OutOfStepsRecord,
  recordRoutes,
  describeCall,
} from '@phalanx/protocol';

import { addKeepCommand } from './keep.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { listDevices, serialOf } from '../../../launch/find-by-name.ts';
import { formatAge } from '../../../output/duration.ts';
import { printJson, printTable } from '../../../output/table.ts';
import { parseLimit } from '../../../option-values.ts';
import { readRecords, type RecordFilter, getRecordId, getRecord } from './read-records.ts';
import type { ApiClient } from '../../../api-client.ts';
import { printMessage, notice, printableLine } from '../../../output/terminal.ts';
import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { treeText } from '../../../output/tree-text.ts';

/** `phalanx records list|show|open|keep|solve|skip|save|unsave|delete` */
export function addRecordCommands(program: Command): void {
  const records = program
    .command('records')
    .description('review out-of-steps records: the screens that automations did not know')
    .addHelpText(
      'after',
      `
Examples:
  phalanx records list --status pending
  phalanx records show 01a1fc26 --screens 3
  phalanx records keep 01a1fc26 --state Checkout
  phalanx records solve 01a1fc26`,
    );
  addListCommand(records);
  addShowCommand(records);
  addOpenCommand(records);
  addKeepCommand(records);
  addMarkCommands(records);
}

interface Flags extends ConnectionFlags, RecordFilter {
  limit: number;
  json?: true;
}

const noRecords =
  'No records. Automations make them with agent.utils.outOfSteps.submit(), and when they crash or time out.';

/** `phalanx records list` */
function addListCommand(records: Command): void {
  const command = records
    .command('list')
    .description('list records, newest first')
    .option('--automation <automation>', 'only of this project (ID or name) or launch ID')
    .option('--device <device>', 'only of this device')
    .option('--run <run>', 'only of this run: its ID, or how it begins or ends')
    .addOption(new Option('--type <type>', 'only of this type').choices(recordTypes))
    .addOption(new Option('--status <status>', 'only in this state').choices(recordStatuses))
    .option('--tag <tag>', 'only with this debug tag')
    .option('--limit <count>', 'at most so many', parseLimit, 20)
    .option('--json', 'print the records as the API gives them')
    .action(async ({ limit, json, ...flags }: Flags) => {
      const { api } = await connect(flags);
      const found: OutOfStepsRecord[] = [];
      for await (const record of readRecords(api, flags)) {
        found.push(record);
        if (found.length === limit) break;
      }
      if (json) printJson({ success: true, records: found });
      else {
        const devices = await listDevices(api);
        printTable({ flexible: 'stage', rows: found.map((record) => row(record, devices)) }, noRecords);
      }
    });
  addConnectionOptions(command);
}

function row(record: OutOfStepsRecord, devices: readonly Device[]): Record<string, string> {
  const last = record.screens.at(-1);
  return {
    record: record.out_of_steps_id,
    automation: record.automation_name,
    device: serialOf(devices, record.device_info.device_id),
    type: record.type,
    // Others have the tag that records without one have.
    tag: record.type === 'debug' ? record.tag : '',
    status: record.saved ? `${record.status}, saved` : record.status,
    ago: formatAge(Date.parse(record.added)),
    screens: `${record.screens.length}${record.partial ? ' (partial)' : ''}`,
    stage: last === undefined ? '' : `${last.nextStage} at ${last.screenState}`,
  };
}

type Change = (api: ApiClient, id: string) => Promise<{ message: string }>;

const mark =
  (status: 'solved' | 'skipped'): Change =>
  (api, id) =>
    api.call(recordRoutes.mark, { params: { id }, body: { status } });

const save =
  (saved: boolean): Change =>
  (api, id) =>
    api.call(recordRoutes.save, { params: { id }, body: { saved } });

const remove: Change = (api, id) => api.call(recordRoutes.delete, { params: { id } });

const changes: Record<string, { description: string; change: Change }> = {
  solve: { description: 'mark records as solved, for good', change: mark('solved') },
  skip: { description: 'mark records as skipped, for good', change: mark('skipped') },
  save: { description: 'protect records from automatic deletion for 2 months', change: save(true) },
  unsave: { description: 'end the protection', change: save(false) },
  delete: { description: 'delete records with their trees and pictures, for good', change: remove },
};

/** `phalanx records solve|skip|save|unsave|delete` */
function addMarkCommands(records: Command): void {
  for (const [name, { description, change }] of Object.entries(changes)) {
    const command = records
      .command(name)
      .description(description)
      .argument('<records...>', 'their IDs, or how each begins')
      .action(async (ids: readonly string[], flags: ConnectionFlags) => {
        const { api } = await connect(flags);
        for (const text of ids) printMessage(await change(api, await getRecordId(api, text)));
      });
    addConnectionOptions(command);
  }
}

/** Without a desktop there is nothing to open it with; the address is printed all the same. */
function openInBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => notice(`${program} is not here: open the address yourself.`));
  child.unref();
}

/** `phalanx records open` */
function addOpenCommand(records: Command): void {
  const command = records
    .command('open')
    .description('open the last picture of a record in the browser, and print its address')
    .argument('<record>', 'its ID, or how that begins')
    .action(async (id: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const { screens } = await getRecord(api, id);
      const url = screens.findLast(({ screenshot }) => screenshot.screenshotUrl !== null)?.screenshot
        .screenshotUrl;
      if (url === undefined || url === null) {
        throw new CommandError(
          exitCodes.refused,
          'The record has no picture: "phalanx records show" has its trees.',
        );
      }
      console.log(url);
      openInBrowser(url);
    });
  addConnectionOptions(command);
}

interface ShowFlags extends ConnectionFlags {
  screens: number;
  json?: true;
}

type Screen = OutOfStepsRecord['screens'][number];

function parseCount(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= 50) return count;
  throw new InvalidArgumentError('Give a number from 0 to 50.');
}

/** `phalanx records show` */
function addShowCommand(records: Command): void {
  const command = records
    .command('show')
    .description('show a record, with the trees of its last screens as text')
    .argument('<record>', 'its ID, or how that begins')
    .option('--screens <count>', 'show the trees of so many screens, the last ones', parseCount, 1)
    .option('--json', 'print the record as the API gives it')
    .action(async (id: string, flags: ShowFlags) => {
      const { api } = await connect(flags);
      const record = await getRecord(api, id);
      if (flags.json) return printJson({ success: true, record });
      printHead(record);
      const first = record.screens.length - flags.screens;
      for (const [index, screen] of record.screens.entries()) {
        printScreen(index, screen);
        if (index >= first) await printTree(screen);
      }
    });
  addConnectionOptions(command);
}

function printHead(record: OutOfStepsRecord): void {
  const { brand, model, android_version: version, device_id: deviceId } = record.device_info;
  const lines: Record<string, string> = {
    Record: record.out_of_steps_id,
    Automation: `${record.automation_name} (${record.automation_id})`,
    Run: record.run_id,
    Device: `${brand} ${model}, Android ${version} (${deviceId})`,
    ...(record.app === null ? {} : appLines(record.app)),
    Type: record.tag === 'default' ? record.type : `${record.type}, tag ${record.tag}`,
    Status: `${record.status}${record.saved ? ', saved' : ''}${record.partial ? ', partial' : ''}`,
    Added: `${record.added} (${formatAge(Date.parse(record.added))} ago)`,
  };
  for (const [name, value] of Object.entries(lines))
    console.log(`${name.padEnd(11)} ${printableLine(value)}`);
}

const appLines = ({
  package: name,
  version,
  activity,
  language,
}: NonNullable<OutOfStepsRecord['app']>): Record<string, string> => ({
  App: `${name} ${version ?? '(version not known)'}`,
  ...(activity === null ? {} : { Activity: activity }),
  ...(language === null ? {} : { Language: language }),
});

function printScreen(
  index: number,
  { nextStage, screenState, maxSteps, timestamp, screenshot, actions }: Screen,
): void {
  const time = new Date(timestamp).toISOString().slice(11, 23);
  console.log(
    `\nScreen ${index + 1}  ${time}  state ${printableLine(screenState)}, next stage ${printableLine(nextStage)}, ${maxSteps} steps left`,
  );
  if (screenshot.screenshotUrl !== null) console.log(`  ${screenshot.screenshotUrl}`);
  if (actions.length > 0)
    console.log(`  done here: ${printableLine(actions.map((call) => describeCall(call)).join('; '))}`);
}

async function printTree({ uiUrl }: Screen): Promise<void> {
  const tree: unknown = uiUrl === null ? undefined : await (await fetch(uiUrl)).json();
  if (tree === undefined) console.log('  (its tree could not be captured)');
  else for (const line of treeText(tree)) console.log(`  ${line}`);
}
