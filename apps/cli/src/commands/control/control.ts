import { actKeyNames, actKeys, deviceControlRoutes, type PhoneInput } from '@phalanx/protocol';
import { type Command, InvalidArgumentError } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { usageError } from '../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../launch/find-by-name.ts';
import { printJson } from '../../output/table.ts';
import { printMessage, printable, printableLine } from '../../output/terminal.ts';

export const deviceText = 'serial number or device ID';
/** Option for the lease that `phalanx lease --json` printed. */
export const leaseOption = [
  '--lease <id>',
  'ID of your lease; the command fails if the lease is no longer valid',
] as const;

export const leaseQuery = (leaseId: string | undefined) =>
  leaseId === undefined ? {} : { lease_id: leaseId };

interface TouchFlags extends ConnectionFlags {
  lease?: string;
}

function parseWhole(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number.');
}

/** `phalanx input`: sends one manual input to a phone. */
export function addInputCommand(program: Command): void {
  const input = program
    .command('input')
    .description('send one input to a phone: tap, swipe, type, press a key or start an app')
    .addHelpText(
      'after',
      `
Coordinates are pixels in the current rotation of the screen: "phalanx screen" prints them.

Examples:
  phalanx input tap SIM0001 540 1200
  phalanx input text SIM0001 "Ada Lovelace"
  phalanx input key SIM0001 back`,
    );
  for (const one of numbersInputs) addNumbersInput(input, one);
  addTextInput(input, {
    name: 'text',
    description: 'type into the focused field',
    argument: 'text',
    inputOf: (text) => ({ type: 'text', text }),
  });
  addTextInput(input, {
    name: 'key',
    description: `press a key: back, ${actKeyNames.join(', ')}, or an Android key code`,
    argument: 'key',
    inputOf: (key) => ({ type: 'key', key_code: keyCodeOf(key) }),
  });
  addTextInput(input, {
    name: 'app',
    description: 'start an app by its package name',
    argument: 'package',
    inputOf: (package_name) => ({ type: 'launch_app', package_name }),
  });
}

const keyCodes: ReadonlyMap<string, number> = new Map([['back', 4], ...Object.entries(actKeys)]);

function keyCodeOf(key: string): number {
  const code = keyCodes.get(key) ?? (/^\d{1,3}$/.test(key) ? Number(key) : undefined);
  if (code !== undefined) return code;
  throw usageError(`Unknown key "${key}": use ${[...keyCodes.keys()].join(', ')}, or an Android key code.`);
}

interface NumbersInput {
  readonly name: string;
  readonly description: string;
  readonly numbers: readonly string[];
  readonly inputOf: (numbers: readonly number[]) => PhoneInput;
}

const numbersInputs: readonly NumbersInput[] = [
  {
    name: 'tap',
    description: 'tap at a point',
    numbers: ['x', 'y'],
    inputOf: ([x = 0, y = 0]) => ({ type: 'tap', x, y }),
  },
  {
    name: 'swipe',
    description: 'swipe from one point to another',
    numbers: ['from-x', 'from-y', 'to-x', 'to-y'],
    inputOf: ([from_x = 0, from_y = 0, to_x = 0, to_y = 0]) => ({
      type: 'swipe',
      from_x,
      from_y,
      to_x,
      to_y,
    }),
  },
];

function addNumbersInput(parent: Command, { name, description, numbers, inputOf }: NumbersInput): void {
  const command = parent.command(name).description(description).argument('<device>', deviceText);
  for (const one of numbers) command.argument(`<${one}>`, 'pixels, a whole number', parseWhole);
  command.action(async (device: string, ...rest: unknown[]) => {
    const given = rest.filter((one) => typeof one === 'number');
    await touch(device, inputOf(given), command.opts<TouchFlags>());
  });
  command.option(...leaseOption);
  addConnectionOptions(command);
}

interface TextInput {
  readonly name: string;
  readonly description: string;
  readonly argument: string;
  readonly inputOf: (text: string) => PhoneInput;
}

function addTextInput(parent: Command, { name, description, argument, inputOf }: TextInput): void {
  const command = parent
    .command(name)
    .description(description)
    .argument('<device>', deviceText)
    .argument(`<${argument}>`)
    .option(...leaseOption)
    .action((device: string, text: string, flags: TouchFlags) => touch(device, inputOf(text), flags));
  addConnectionOptions(command);
}

async function touch(
  device: string,
  body: PhoneInput,
  { lease: leaseId, ...flags }: TouchFlags,
): Promise<void> {
  const { api } = await connect(flags);
  const params = { id: deviceIdOf(await listDevices(api), device) };
  const query = leaseQuery(leaseId);
  printMessage(await api.call(deviceControlRoutes.input, { params, query, body }));
}

interface LeaseFlags extends ConnectionFlags {
  minutes?: number;
  end?: true;
  code?: true;
  exclusive?: true;
  lease?: string;
  json?: true;
}

/** `phalanx lease`: reserves a phone for manual control. */
export function addLeaseCommand(program: Command): void {
  const command = program
    .command('lease')
    .description('reserve a device: no one else can control it or launch on it')
    .argument('<device>', deviceText)
    .option(
      '--minutes <number>',
      'duration in minutes from now and from each input, from 1 to 60; default: 1',
      parseWhole,
    )
    .option('--exclusive', 'reserve it for one program: your other programs need the printed lease ID, too')
    .option('--lease <id>', 'ID of your lease, to extend or end it')
    .option('--end', 'end the lease')
    .option('--code', 'print the steps of "phalanx act" during the lease as automation code')
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
Runs on the phone continue. "phalanx devices" shows who has leased a phone.

Examples:
  phalanx lease SIM0001 --minutes 10
  phalanx lease SIM0001 --exclusive --json    # pass lease_id to act, input and lease as --lease
  phalanx lease SIM0001 --code > main.ts
  phalanx lease SIM0001 --end`,
    )
    .action(lease);
  addConnectionOptions(command);
}

async function lease(
  device: string,
  { minutes = 1, end, code, exclusive, lease: leaseId, json, ...flags }: LeaseFlags,
): Promise<void> {
  const shown = leaseQuery(leaseId);
  const { api } = await connect(flags);
  const params = { id: deviceIdOf(await listDevices(api), device) };
  if (code) {
    const reply = await api.call(deviceControlRoutes.leaseCode, { params, query: shown });
    if (json) printJson(reply);
    else for (const line of reply.code) console.log(printableLine(line));
  }
  if (end) return printMessage(await api.call(deviceControlRoutes.endLease, { params, query: shown }));
  if (code) return;
  const body = { duration_ms: minutes * 60_000, ...shown, ...(exclusive ? { exclusive } : {}) };
  const reply = await api.call(deviceControlRoutes.lease, { params, body });
  if (json) return printJson(reply);
  console.log(`You control ${printable(device)} until ${new Date(reply.lease.expires_at).toISOString()}.`);
}
