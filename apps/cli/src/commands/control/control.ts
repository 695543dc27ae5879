import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { actKeyNames, actKeys, deviceControlRoutes, type PhoneInput } from '@phalanx/protocol';
import { type Command as PlainCommand, InvalidArgumentError } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
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

function parseWhole(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number.');
}

/** `phalanx input`: sends one manual input to a phone. */
export function addInputCommand(program: PlainCommand): void {
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
  addPointInputs(input);
  addTextInput(input, {
    name: 'text',
    about: 'type into the focused field',
    argument: 'text',
    inputOf: (text) => ({ type: 'text', text }),
  });
  addTextInput(input, {
    name: 'key',
    about: `press a key: back, ${actKeyNames.join(', ')}, or an Android key code`,
    argument: 'key',
    inputOf: (key) => ({ type: 'key', key_code: keyCodeOf(key) }),
  });
  addTextInput(input, {
    name: 'app',
    about: 'start an app by its package name',
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

const pixels = 'pixels, a whole number';

function addPointInputs(input: PlainCommand): void {
  serverCommand(input, 'tap', {
    about: 'tap at a point',
    json: false,
    build: (command: Command) =>
      command
        .argument('<device>', deviceText)
        .argument('<x>', pixels, parseWhole)
        .argument('<y>', pixels, parseWhole)
        .option(...leaseOption),
    run: ({ api }, flags, device, ...[x, y]) => touch(api, device, flags, { type: 'tap', x, y }),
  });
  serverCommand(input, 'swipe', {
    about: 'swipe from one point to another',
    json: false,
    build: (command: Command) =>
      command
        .argument('<device>', deviceText)
        .argument('<from-x>', pixels, parseWhole)
        .argument('<from-y>', pixels, parseWhole)
        .argument('<to-x>', pixels, parseWhole)
        .argument('<to-y>', pixels, parseWhole)
        .option(...leaseOption),
    run: ({ api }, flags, device, ...[from_x, from_y, to_x, to_y]) =>
      touch(api, device, flags, { type: 'swipe', from_x, from_y, to_x, to_y }),
  });
}

interface TextInput {
  readonly name: string;
  readonly about: string;
  readonly argument: string;
  /** Throws a usage error for a text that is no such input. */
  readonly inputOf: (text: string) => PhoneInput;
}

function addTextInput(parent: PlainCommand, { name, about, argument, inputOf }: TextInput): void {
  serverCommand(parent, name, {
    about,
    json: false,
    build: (command: Command) =>
      command
        .argument('<device>', deviceText)
        .argument(`<${argument}>`)
        .option(...leaseOption),
    check: (_flags, _device, text) => void inputOf(text),
    run: ({ api }, flags, device, text) => touch(api, device, flags, inputOf(text)),
  });
}

async function touch(
  api: ApiClient,
  device: string,
  flags: { lease?: string },
  body: PhoneInput,
): Promise<void> {
  const params = { id: deviceIdOf(await listDevices(api), device) };
  const query = leaseQuery(flags.lease);
  printMessage(await api.call(deviceControlRoutes.input, { params, query, body }));
}

/** `phalanx lease`: reserves a phone for manual control. */
export function addLeaseCommand(program: PlainCommand): void {
  serverCommand(program, 'lease', {
    about: 'reserve a device: no one else can control it or launch on it',
    build: leaseOptions,
    help: `Runs on the phone continue. "phalanx devices" shows who has leased a phone.

Examples:
  phalanx lease SIM0001 --minutes 10
  phalanx lease SIM0001 --exclusive --json    # pass lease_id to act, input and lease as --lease
  phalanx lease SIM0001 --code > main.ts
  phalanx lease SIM0001 --end`,
    run: lease,
  });
}

const leaseOptions = (command: Command) =>
  command
    .argument('<device>', deviceText)
    .option(
      '--minutes <number>',
      'duration in minutes from now and from each input, from 1 to 60; default: 1',
      parseWhole,
    )
    .option('--exclusive', 'reserve it for one program: your other programs need the printed lease ID, too')
    .option('--lease <id>', 'ID of your lease, to extend or end it')
    .option('--end', 'end the lease')
    .option('--code', 'print the steps of "phalanx act" during the lease as automation code');

async function lease(
  { api }: Connection,
  { minutes = 1, end, code, exclusive, lease: leaseId, json }: OptionsOf<typeof leaseOptions> & ServerFlags,
  device: string,
): Promise<void> {
  const shown = leaseQuery(leaseId);
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
