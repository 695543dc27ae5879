import type { Command } from '@commander-js/extra-typings';
import { readAll } from '@phalanx/client/read-all';
import { type Pool, poolRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { serverCommand } from '../../connection/server-command.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';

/** `phalanx pools`: saved selectors. */
export function addPoolCommands(program: PlainCommand): void {
  const pools = serverCommand(program, 'pools', {
    about: 'list your pools: saved selectors of phones',
    help: `Examples:
  phalanx pools set berlin-pixels "country=de,city=berlin,model~Pixel"
  phalanx run checkout --labels pool=berlin-pixels --count 5`,
    async run({ api }, { json }) {
      const all = await readAll(
        (query) => api.call(poolRoutes.list, { query }),
        (page) => page.pools,
      );
      if (json) printJson({ success: true, pools: all, next_cursor: null });
      else
        printTable(
          { flexible: 'selector', rows: all.map(row) },
          'No pools yet: see "phalanx pools set --help".',
        );
    },
  });
  serverCommand(pools, 'set', {
    about: 'create a pool, or change its selector',
    json: false,
    build: (command: Command) =>
      command.argument('<name>').argument('<selector>', 'such as "country=de,model~Pixel"'),
    async run({ api }, _, name, selector) {
      const { pool } = await api.call(poolRoutes.put, { params: { name }, body: { selector } });
      console.log(
        printable(`${pool.name} selects ${pool.devices.total} phones, ${pool.devices.ready} of them ready.`),
      );
    },
  });
  serverCommand(pools, 'delete', {
    about: 'delete a pool; its phones stay',
    json: false,
    build: (command: Command) => command.argument('<name>'),
    async run({ api }, _, name) {
      printMessage(await api.call(poolRoutes.delete, { params: { name } }));
    },
  });
}

const row = ({ name, selector, devices }: Pool): Record<string, string> => ({
  name,
  selector,
  phones: `${devices.ready} of ${devices.total} ready`,
});
