import { runRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { getRunId } from '../../../follow/get-run-id.ts';

/** `phalanx runs code` */
export function addRunCodeCommand(runs: Command): void {
  const command = runs
    .command('code')
    .description('print the direct code that a run has executed')
    .argument('<run>', 'ID, or how it begins or ends; "phalanx runs" shows the ends')
    .addHelpText(
      'after',
      `
Example: run the code of a run again
  phalanx runs code 83335275374f | phalanx exec - --device SIM0001`,
    )
    .action(async (text: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const runId = await getRunId(api, text);
      const { code } = await api.call(runRoutes.code, { params: { id: runId } });
      if (code === null) throw new CommandError(exitCodes.refused, await whyNone(api, runId));
      process.stdout.write(code);
    });
  addConnectionOptions(command);
}

async function whyNone(api: Awaited<ReturnType<typeof connect>>['api'], runId: string): Promise<string> {
  const { run } = await api.call(runRoutes.get, { params: { id: runId } });
  return run.launch_id === null
    ? `${runId} is a run of a project: "phalanx project pull" has its files${run.commit === null ? '' : `, git those of its commit ${run.commit}`}.`
    : `The code of ${runId} was not kept: it has more than 1 MiB.`;
}
