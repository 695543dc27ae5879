import { deviceRoutes, type NodeInspection } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { deviceIdOf, listDevices } from '../../launch/find-device.ts';
import { printableLine } from '../../output/printable.ts';
import { printJson } from '../../output/table.ts';

interface Flags extends ConnectionFlags {
  screen: string;
  json?: true;
}

/** `phalanx inspect`: a line of `phalanx screen --compact`, and the code that finds it. */
export function addInspectCommand(program: Command): void {
  const command = program
    .command('inspect')
    .description('show all attributes of a line of a screen, and the code that finds it')
    .argument('<device>', 'serial number or device ID')
    .argument('<number>', 'of the line')
    .requiredOption('--screen <id>', 'the screen that it is of, as "phalanx screen --compact" printed it')
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
The phone looks for the node again. The code that lasts longest comes first; each was tried on the screen.

Example:
  phalanx screen SIM0001 --compact
  phalanx inspect SIM0001 3 --screen 7f3a91c2-5be014`,
    )
    .action(inspect);
  addConnectionOptions(command);
}

async function inspect(
  device: string,
  number: string,
  { screen: screen_id, json, ...flags }: Flags,
): Promise<void> {
  const { api } = await connect(flags);
  const params = { id: deviceIdOf(await listDevices(api), device), screen_id, number };
  const reply = await api.call(deviceRoutes.node, { params });
  if (json) printJson(reply);
  else for (const line of inspectionLines(reply.node)) console.log(printableLine(line));
}

function inspectionLines({ selectors, bounds, is, ...node }: NodeInspection): string[] {
  const { left, top, right, bottom } = bounds;
  const attributes: [name: string, value: string | null][] = [
    ['class', node.class_name],
    ['id', node.id],
    ['text', node.text],
    ['description', node.description],
    ['hint', node.hint],
    ['package', node.package_name],
    ['bounds', `${left},${top} ${right},${bottom}`],
    ['is', is.join(', ')],
    ['children', String(node.children)],
  ];
  return [
    ...attributes.flatMap(([name, value]) =>
      value === null || value === '' ? [] : [`${name.padEnd(12)}${value}`],
    ),
    ...selectors.map(
      ({ wait, count, finds, depends_on: dependsOn }) =>
        `${wait}  ${foundText(finds, count)}${dependsOn === null ? '' : `, depends on its ${dependsOn}`}`,
    ),
  ];
}

function foundText(finds: NodeInspection['selectors'][number]['finds'], count: number): string {
  if (finds === 'alone') return 'this node alone';
  return finds === 'another' ? `another of ${count} nodes` : `this node, the ${finds} of ${count}`;
}
