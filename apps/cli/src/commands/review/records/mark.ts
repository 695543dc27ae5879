import { recordRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import type { ApiClient } from '../../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { printMessage } from '../../../output/print-message.ts';
import { getRecordId } from './read-records.ts';

type Change = (api: ApiClient, id: string) => Promise<{ message: string }>;

const mark =
  (status: 'solved' | 'skipped'): Change =>
  (api, id) =>
    api.call(recordRoutes.mark, { params: { id }, body: { status } });

const save =
  (saved: boolean): Change =>
  (api, id) =>
    api.call(recordRoutes.save, { params: { id }, body: { saved } });

const changes: Record<string, { description: string; change: Change }> = {
  solve: { description: 'mark records as solved, for good', change: mark('solved') },
  skip: { description: 'mark records as skipped, for good', change: mark('skipped') },
  save: { description: 'protect records from automatic deletion for 2 months', change: save(true) },
  unsave: { description: 'end the protection', change: save(false) },
};

/** `phalanx records solve|skip|save|unsave` */
export function addMarkCommands(records: Command): void {
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
