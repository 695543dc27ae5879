import { runRoutes, type RunDetail } from '@phalanx/protocol';
import type { Command } from 'commander';

import type { ApiClient } from '../../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { getRunId } from '../../../follow/get-run-id.ts';
import { listDevices, serialOf } from '../../../launch/find-device.ts';
import { describeEnd, describeLauncher } from '../../../output/describe-run.ts';
import { formatAge } from '../../../output/duration.ts';
import { printable } from '../../../output/printable.ts';
import { paragraph, printJson, terminalCells } from '../../../output/table.ts';

/** `phalanx runs show` */
export function addShowCommand(runs: Command): void {
  const command = runs
    .command('show')
    .description(
      'show all that is known of a run: why it ended, with what and by whom it was launched, its records',
    )
    .argument('<run>', 'ID, or how it begins or ends; "phalanx runs" shows the ends')
    .option('--json', "print the API's reply")
    .action(async (text: string, flags: ConnectionFlags & { json?: true }) => {
      const { api } = await connect(flags);
      const reply = await api.call(runRoutes.get, { params: { id: await getRunId(api, text) } });
      if (flags.json) printJson(reply);
      else await printRun(api, reply.run);
    });
  addConnectionOptions(command);
}

async function printRun(api: ApiClient, run: RunDetail): Promise<void> {
  const serial = serialOf(await listDevices(api), run.device_id);
  for (const line of paragraph({ ...headOf(run, serial), ...detailsOf(run) }, terminalCells()))
    console.log(line);
  if (run.error !== null) console.log(`\n${printable(run.error.stack ?? run.error.message)}`);
}

const headOf = (run: RunDetail, serial: string): Record<string, string> => ({
  Run: run.run_id,
  Status: describeEnd(run),
  Automation: run.project_name === null ? run.automation_id : `${run.project_name} (${run.automation_id})`,
  Device: `${serial} (${run.device_id})`,
  Launched: `${new Date(run.created_at).toISOString()} (${formatAge(run.created_at)} ago) by ${describeLauncher(run.launched_by)}`,
  Commit: run.commit === null ? '' : `${run.commit}${run.dirty ? ' + changes' : ''}`,
});

const detailsOf = ({
  parameters,
  result,
  records,
  last_screen: last,
}: RunDetail): Record<string, string> => ({
  Parameters: parameters === null ? 'too large to be kept' : JSON.stringify(parameters.automation_parameters),
  Variables: parameters === null ? '' : JSON.stringify(parameters.job_variables),
  Result: result === null ? '' : JSON.stringify(result),
  Records: records.map((record) => `${record.record_id} (${record.type})`).join(', '),
  Screen: last === null ? '' : `state ${last.screen.screenState}, next stage ${last.screen.nextStage}`,
  Picture: last?.screen.screenshot.screenshotUrl ?? '',
});
