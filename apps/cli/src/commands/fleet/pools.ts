import { readAll } from '@phalanx/client/read-all';
import { type Pool, poolRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';

/** `phalanx pools`: saved selectors. */
export function addPoolCommands(program: Command): void {
  const pools = program
    .command('pools')
    .description('list your pools: saved selectors of phones')
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
Examples:
  phalanx pools set berlin-pixels "country=de,city=berlin,model~Pixel"
  phalanx run checkout --labels pool=berlin-pixels --count 5`,
    )
    .action(async (flags: ConnectionFlags & { json?: true }) => {
      const { api } = await connect(flags);
      const all = await readAll(
        (query) => api.call(poolRoutes.list, { query }),
        (page) => page.pools,
      );
      if (flags.json) printJson({ success: true, pools: all, next_cursor: null });
      else
        printTable(
          { flexible: 'selector', rows: all.map(row) },
          'No pools yet: see "phalanx pools set --help".',
        );
    });
  const set = pools
    .command('set')
    .description('create a pool, or change its selector')
    .argument('<name>')
    .argument('<selector>', 'such as "country=de,model~Pixel"')
    .action(async (name: string, selector: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const { pool } = await api.call(poolRoutes.put, { params: { name }, body: { selector } });
      console.log(
        printable(`${pool.name} selects ${pool.devices.total} phones, ${pool.devices.ready} of them ready.`),
      );
    });
  const remove = pools
    .command('delete')
    .description('delete a pool; its phones stay')
    .argument('<name>')
    .action(async (name: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      printMessage(await api.call(poolRoutes.delete, { params: { name } }));
    });
  for (const command of [pools, set, remove]) addConnectionOptions(command);
}

const row = ({ name, selector, devices }: Pool): Record<string, string> => ({
  name,
  selector,
  phones: `${devices.ready} of ${devices.total} ready`,
});
