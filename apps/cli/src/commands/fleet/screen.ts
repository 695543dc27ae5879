import { writeFile } from 'node:fs/promises';
import type { Command } from '@commander-js/extra-typings';
import {
  deviceRoutes,
  isCompactView,
  type Device,
  type DeviceScreen,
  type ReplyOf,
  type UiNode,
  type NodeInspection,
} from '@phalanx/protocol';
import { type Command as PlainCommand, InvalidArgumentError } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../launch/find-by-name.ts';
import { notice, printableLine } from '../../output/terminal.ts';
import { printJson } from '../../output/table.ts';
import { treeText } from '../../output/tree-text.ts';

function parseWidth(text: string): number {
  const width = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (width >= 16 && width <= 10_000) return width;
  throw new InvalidArgumentError('Expected a number from 16 to 10000.');
}

interface KeptAs {
  state: string;
  name: string;
}

function parseKeptAs(text: string): KeptAs {
  const [state, name, ...more] = text.split('/');
  if (state && name && more.length === 0) return { state, name };
  throw new InvalidArgumentError('Expected STATE/NAME, such as Checkout/pixel-8.');
}

/** `phalanx screen`: prints the current screen of a phone. */
export function addScreenCommand(program: PlainCommand): void {
  serverCommand(program, 'screen', {
    about: "print the tree of a phone's current screen, or save a picture of it",
    build: screenOptions,
    help: `Each line of the tree is a node: class, #id, "text", (description), possible actions and states, and its bounds on the
screen as left,top right,bottom.

Examples:
  phalanx screen SIM0001
  phalanx screen SIM0001 --compact      # the first line has the ID for "act --screen" and --diff
  phalanx screen SIM0001 --picture screen.jpg
  phalanx screen SIM0001 --keep Checkout/pixel-8`,
    run: showScreen,
  });
}

const screenOptions = (command: Command) =>
  command
    .argument('<device>', 'serial number or device ID')
    .option('--picture <file>', 'write the picture to this file (JPEG)')
    .option('--width <pixels>', 'maximum width of the picture', parseWidth)
    .option('--keep <state/name>', 'save it as a golden screen in the current project folder', parseKeptAs)
    .option('--compact', 'print only nodes that can be read or touched, numbered, for coding agents')
    .option('--diff <screen>', 'with --compact: print only changes since the screen with this ID');

async function showScreen(
  { api }: Connection,
  { picture, width, keep, compact, diff, json }: OptionsOf<typeof screenOptions> & ServerFlags,
  device: string,
): Promise<void> {
  const isCompact = (compact === true || diff !== undefined) && picture === undefined && keep === undefined;
  const devices = await listDevices(api);
  const params = { id: deviceIdOf(devices, device) };
  const view = diff === undefined ? ({ view: 'compact' } as const) : ({ view: 'diff', since: diff } as const);
  const query = { ...(width === undefined ? {} : { width }), ...(isCompact ? view : {}) };
  const reply = await api.call(deviceRoutes.screen, { params, query });
  const { screen } = reply;
  if (json) printJson(reply);
  else if (isCompactView(screen)) printCompact(screen);
  else if (keep !== undefined)
    await keepShown(
      screen,
      keep,
      devices.find((one) => one.device_id === params.id),
    );
  else for (const line of treeText(screen.tree)) console.log(line);
  if (picture !== undefined && !isCompactView(screen)) await writePicture(screen, picture);
}

type Screen = ReplyOf<typeof deviceRoutes.screen>['screen'];

export function printCompact({ screen_id, view, lines }: Extract<Screen, { lines: string[] }>): void {
  console.log(`screen ${screen_id}${view === 'diff' ? ', what has changed' : ''}`);
  for (const line of lines) console.log(printableLine(line));
}

async function writePicture(screen: DeviceScreen, picture: string): Promise<void> {
  if (screen.picture === null)
    throw new CommandError(
      exitCodes.failed,
      printableLine(screen.picture_reason ?? 'The host sent no picture and no reason.'),
    );
  if (typeof screen.picture_remark === 'string') notice(printableLine(screen.picture_remark));
  await writeFile(picture, Buffer.from(screen.picture.base64, 'base64'));
  notice(`The picture was saved to ${picture}.`);
}

async function keepShown({ tree }: DeviceScreen, kept: KeptAs, device: Device | undefined): Promise<void> {
  const { keepScreen } = await import('../../golden/keep-screen.ts');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host read this tree
  const root = tree.root as unknown as UiNode;
  const { right, bottom } = root.boundsInScreen;
  const rotation = right > bottom ? 1 : 0;
  await keepScreen({
    ...kept,
    tree: { packageName: tree.packageName, source: 'uiautomator2', rotation, capturedAt: Date.now(), root },
    from: {
      ...(device === undefined
        ? {}
        : { device: `${device.brand} ${device.model}`, android: device.android_version }),
    },
  });
}

/** `phalanx inspect`: prints a node of `phalanx screen --compact`, and code that finds it. */
export function addInspectCommand(program: PlainCommand): void {
  serverCommand(program, 'inspect', {
    about: 'show all attributes of a screen line, and code that finds its node',
    build: (command: Command) =>
      command
        .argument('<device>', 'serial number or device ID')
        .argument('<number>', 'number of the line')
        .requiredOption(
          '--screen <id>',
          'ID of the screen with this line; "phalanx screen --compact" prints it',
        ),
    help: `The phone finds the node again. The most durable code comes first, and each line was tried on the screen.

Example:
  phalanx screen SIM0001 --compact
  phalanx inspect SIM0001 3 --screen 7f3a91c2-5be014`,
    async run({ api }, { screen: screen_id, json }, device, number) {
      const params = { id: deviceIdOf(await listDevices(api), device), screen_id, number };
      const reply = await api.call(deviceRoutes.node, { params });
      if (json) printJson(reply);
      else for (const line of inspectionLines(reply.node)) console.log(printableLine(line));
    },
  });
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
