import { describeCall, type OutOfStepsRecord } from '@phalanx/protocol';
import { type Command, InvalidArgumentError } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { formatAge } from '../../../output/duration.ts';
import { printableLine } from '../../../output/printable.ts';
import { printJson } from '../../../output/table.ts';
import { getRecord } from './read-records.ts';
import { treeText } from '../../../output/tree-text.ts';

interface Flags extends ConnectionFlags {
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
export function addShowCommand(records: Command): void {
  const command = records
    .command('show')
    .description('show a record, with the trees of its last screens as text')
    .argument('<record>', 'its ID, or how that begins')
    .option('--screens <count>', 'show the trees of so many screens, the last ones', parseCount, 1)
    .option('--json', 'print the record as the API gives it')
    .action(async (id: string, flags: Flags) => {
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
