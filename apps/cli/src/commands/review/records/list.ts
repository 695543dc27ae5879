import { type Device, recordStatuses, recordTypes, type OutOfStepsRecord } from '@phalanx/protocol';
import { type Command, Option } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { listDevices, serialOf } from '../../../launch/find-device.ts';
import { formatAge } from '../../../output/duration.ts';
import { printJson, printTable } from '../../../output/table.ts';
import { parseLimit } from '../../limit.ts';
import { readRecords, type RecordFilter } from './read-records.ts';

interface Flags extends ConnectionFlags, RecordFilter {
  limit: number;
  json?: true;
}

const noRecords =
  'No records. Automations make them with agent.utils.outOfSteps.submit(), and when they crash or time out.';

/** `phalanx records list` */
export function addListCommand(records: Command): void {
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
