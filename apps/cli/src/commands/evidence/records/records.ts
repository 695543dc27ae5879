import { spawn } from 'node:child_process';
import { type Command, Option, InvalidArgumentError } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import type { Command as PlainCommand } from 'commander';
import {
  type Device,
  recordStatuses,
  recordTypes,
  type OutOfStepsRecord,
  recordRoutes,
  describeCall,
} from '@phalanx/protocol';

import { addKeepCommand } from './keep.ts';
import { serverCommand } from '../../../connection/server-command.ts';
import { listDevices, serialOf } from '../../../launch/find-by-name.ts';
import { formatAge } from '../../../output/duration.ts';
import { printJson, printTable } from '../../../output/table.ts';
import { parseLimit } from '../../../option-values.ts';
import { readRecords, getRecordId, getRecord } from './read-records.ts';
import { readTree } from './read-tree.ts';
import { printMessage, notice, printableLine } from '../../../output/terminal.ts';
import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { treeText } from '../../../output/tree-text.ts';

/** `phalanx records list|show|open|keep|solve|skip|save|unsave|delete` */
export function addRecordCommands(program: PlainCommand): void {
  const records = program
    .command('records')
    .description('review out-of-steps records: screens that automations did not recognise')
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

const noRecords =
  'No records. Automations create them with agent.utils.outOfSteps.submit(), and when they crash or time out.';

/** `phalanx records list` */
function addListCommand(records: PlainCommand): void {
  serverCommand(records, 'list', {
    about: 'list records, newest first',
    json: 'print the records as JSON',
    build: (command: Command) =>
      command
        .option('--automation <automation>', 'only records of this project (ID or name) or launch ID')
        .option('--device <device>', 'only records of this device')
        .option(
          '--run <run>',
          'only records of this run: ID, or its beginning or end (at least 4 characters)',
        )
        .addOption(new Option('--type <type>', 'only records of this type').choices(recordTypes))
        .addOption(new Option('--status <status>', 'only records in this state').choices(recordStatuses))
        .option('--tag <tag>', 'only records with this debug tag')
        .option('--limit <count>', 'maximum number of records', parseLimit, 20),
    async run({ api }, { limit, json, ...filter }) {
      const found: OutOfStepsRecord[] = [];
      for await (const record of readRecords(api, filter)) {
        found.push(record);
        if (found.length === limit) break;
      }
      if (json) printJson({ success: true, records: found });
      else {
        const devices = await listDevices(api);
        printTable({ flexible: 'stage', rows: found.map((record) => row(record, devices)) }, noRecords);
      }
    },
  });
}

function row(record: OutOfStepsRecord, devices: readonly Device[]): Record<string, string> {
  const last = record.screens.at(-1);
  return {
    record: record.out_of_steps_id,
    automation: record.automation_name,
    device: serialOf(devices, record.device_info.device_id),
    type: record.type,
    // Other types have only the default tag.
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

const changes: Record<string, { about: string; change: Change }> = {
  solve: { about: 'permanently mark records as solved', change: mark('solved') },
  skip: { about: 'permanently mark records as skipped', change: mark('skipped') },
  save: { about: 'protect records from automatic deletion for 2 months', change: save(true) },
  unsave: { about: 'end the protection from automatic deletion', change: save(false) },
  delete: { about: 'permanently delete records with their trees and pictures', change: remove },
};

/** `phalanx records solve|skip|save|unsave|delete` */
function addMarkCommands(records: PlainCommand): void {
  for (const [name, { about, change }] of Object.entries(changes))
    serverCommand(records, name, {
      about,
      json: false,
      build: (command: Command) =>
        command.argument('<records...>', 'record IDs, or their beginnings (at least 4 characters)'),
      async run({ api }, _, ids) {
        for (const text of ids) printMessage(await change(api, await getRecordId(api, text)));
      },
    });
}

/** Opens the address in the browser. Without a desktop this fails, and the user opens the printed address. */
function openInBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => notice(`${program} is not installed: open the address yourself.`));
  child.unref();
}

const withRecord = (command: Command) =>
  command.argument('<record>', 'record ID, or its beginning (at least 4 characters)');

/** `phalanx records open` */
function addOpenCommand(records: PlainCommand): void {
  serverCommand(records, 'open', {
    about: 'open the last picture of a record in the browser, and print its address',
    json: false,
    build: withRecord,
    async run({ api }, _, id) {
      const { screens } = await getRecord(api, id);
      const url = screens.findLast(({ screenshot }) => screenshot.screenshotUrl !== null)?.screenshot
        .screenshotUrl;
      if (url === undefined || url === null) {
        throw new CommandError(
          exitCodes.refused,
          'The record has no picture: "phalanx records show" prints its trees.',
        );
      }
      console.log(url);
      openInBrowser(url);
    },
  });
}

type Screen = OutOfStepsRecord['screens'][number];

function parseCount(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= 50) return count;
  throw new InvalidArgumentError('Expected a number from 0 to 50.');
}

/** `phalanx records show` */
function addShowCommand(records: PlainCommand): void {
  serverCommand(records, 'show', {
    about: 'show a record, and the trees of its last screens as text',
    json: 'print the record as JSON',
    build: (command: Command) =>
      withRecord(command).option(
        '--screens <count>',
        'number of last screens whose trees are shown',
        parseCount,
        1,
      ),
    async run({ api }, { screens, json }, id) {
      const record = await getRecord(api, id);
      if (json) return printJson({ success: true, record });
      printHead(record);
      const first = record.screens.length - screens;
      for (const [index, screen] of record.screens.entries()) {
        printScreen(index, screen);
        if (index >= first) await printTree(screen);
      }
    },
  });
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
  App: `${name} ${version ?? '(unknown version)'}`,
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
  const tree: unknown = uiUrl === null ? undefined : await readTree(uiUrl);
  if (tree === undefined) console.log('  (tree was not captured)');
  else for (const line of treeText(tree)) console.log(`  ${line}`);
}
