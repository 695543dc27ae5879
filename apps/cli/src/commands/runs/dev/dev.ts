import { constants } from 'node:os';
import { type Device, deviceControlRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { CommandError, exitCodes, usageError } from '../../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../../launch/find-by-name.ts';
import {
  addParameterOptions,
  parametersHelp,
  readInputs,
  type ParameterFlags,
} from '../../../launch/parameters.ts';
import { notice } from '../../../output/terminal.ts';
import { getLinkedFolder } from '../../../project/project-folder.ts';
import { untilSignal } from '../../../until-signal.ts';
import type { ApiClient } from '../../../api-client.ts';
import { readBase } from '../../../project/remote-files.ts';
import { listLocalFiles } from '../../../project/local-files.ts';
import { DevSession, Wishes, type Wish } from './dev-session.ts';

/** Notifications of the operating system are missing on network drives and in containers; looking works everywhere. */
const lookMs = 300;

interface Flags extends ConnectionFlags, ParameterFlags {
  device?: string;
  labels?: string;
}

/** `phalanx dev`: the loop of somebody who writes an automation. */
export function addDevCommand(program: Command): void {
  const command = program
    .command('dev')
    .description('in a project folder: push and run it on one phone after each save')
    .option('--device <device>', 'serial number, name or ID; by default the only phone that is ready')
    .option('--labels <selector>', 'the first free phone that fits, such as "country=de,model~Pixel"')
    .addHelpText(
      'after',
      `
The phone is leased for you until you quit. After each save the folder is pushed (files that are deleted here are
deleted on the server), checked and run from its start; a run that goes on is stopped before. You see the log, errors
beside your own lines, and what the phone shows at the end, as "phalanx screen --compact" prints it.

At a terminal, ${keysHelp} Under your control, the phone stays leased, the address of its page Control is
printed, and saves run nothing until you press r. Without a terminal there are no keys: end it with a signal.
${parametersHelp}
Examples:
  phalanx dev
  phalanx dev --device SIM0001 --param greeting=Servus`,
    )
    .action(dev);
  addParameterOptions(command);
  addConnectionOptions(command);
}

async function dev(flags: Flags): Promise<void> {
  if (flags.device !== undefined && flags.labels !== undefined)
    throw usageError('Give --device or --labels, not both.');
  await readInputs(flags);
  const connection = await connect(flags);
  const folder = await getLinkedFolder(connection);
  const device = choosePhone(await listDevices(connection.api, flags.labels), flags);
  const phone = await HeldPhone.take(connection.api, device);
  try {
    const wishes = new Wishes();
    await listen(folder.root, device.serial, wishes, () =>
      new DevSession({ connection, folder, device, wishes, readInputs: () => readInputs(flags) }).go(),
    );
  } finally {
    await phone.giveBack();
  }
}

/** Adds what keys, saves and a signal want while `work` goes on. Throws the shell's code after a signal. */
async function listen(
  root: string,
  serial: string,
  wishes: Wishes,
  work: () => Promise<void>,
): Promise<void> {
  const seen = await lookAtFolder(root);
  const ending = new AbortController();
  const { signal } = ending;
  void watchFolder({ root, seen, signal, onChange: () => wishes.add('saved') });
  const stopKeys = hasKeys() ? readKeys((wish) => wishes.add(wish)) : () => undefined;
  let interruption: NodeJS.Signals | undefined;
  void untilSignal().then((name) => {
    interruption = name;
    wishes.add('quit');
  });
  notice(`${root} runs on ${serial} after each save.${hasKeys() ? ` ${keysHelp}` : ''}`);
  try {
    await work();
  } finally {
    ending.abort();
    stopKeys();
  }
  if (interruption !== undefined)
    throw new CommandError(128 + constants.signals[interruption], 'The phone is given back.');
}

function choosePhone(devices: readonly Device[], { device: text, labels }: Flags): Device {
  if (text !== undefined) {
    const id = deviceIdOf(devices, text);
    const found = devices.find((one) => one.device_id === id);
    if (found !== undefined) return found;
    throw new CommandError(exitCodes.refused, `There is no phone "${text}": "phalanx devices" shows yours.`);
  }
  const ready = devices.filter(
    ({ state, role, lease, accepted }) => state === 'ready' && role !== 'view' && lease === null && accepted,
  );
  const [first, second] = ready;
  if (first === undefined)
    throw new CommandError(exitCodes.refused, 'No phone is free: "phalanx devices" says why.');
  if (second === undefined || labels !== undefined) return first;
  throw usageError(
    `Several phones are free, such as ${first.serial} and ${second.serial}: say which with --device or --labels.`,
  );
}

const keys: Readonly<Record<string, Wish>> = { r: 'run', s: 'stop', t: 'hand', q: 'quit' };

const keysHelp = 'r runs again, s stops, t takes control of the phone, q quits.';

const interrupt = '\u0003';

/** Whether somebody can press keys: without a terminal, standard input is left alone. */
const hasKeys = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

/** Reads single keys until the returned function is called. A terminal that does so sends no SIGINT by itself. */
function readKeys(onWish: (wish: Wish) => void): () => void {
  const { stdin } = process;
  const read = (text: string): void => {
    for (const key of text) {
      if (key === interrupt) process.kill(process.pid, 'SIGINT');
      const wish = keys[key.toLowerCase()];
      if (wish !== undefined) onWish(wish);
    }
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', read).resume();
  return () => {
    stdin.off('data', read).pause();
    stdin.setRawMode(false);
  };
}

const leaseMs = 120_000;
const renewMs = 40_000;

/** A phone that nobody else touches or launches on. Without its program the lease ends by itself. */
class HeldPhone {
  readonly #api: ApiClient;
  readonly #params: { id: string };
  /** Somebody who controlled it before keeps its lease. */
  readonly #isOursToEnd: boolean;
  #timer: NodeJS.Timeout | undefined;

  private constructor(api: ApiClient, { device_id: id, lease }: Device) {
    this.#api = api;
    this.#params = { id };
    this.#isOursToEnd = lease === null;
  }

  /** Throws what the service says when somebody else has it. */
  static async take(api: ApiClient, device: Device): Promise<HeldPhone> {
    const held = new HeldPhone(api, device);
    await held.#renew();
    // A failed renewal is ignored: the lease was ended in the console, or the service is away, and the next
    // renewal takes it again.
    const renew = (): void => void held.#renew().catch(() => undefined);
    held.#timer = setInterval(renew, renewMs);
    return held;
  }

  async giveBack(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#isOursToEnd) return;
    const ending = this.#api.call(deviceControlRoutes.endLease, { params: this.#params });
    await ending.catch(() => undefined);
  }

  async #renew(): Promise<void> {
    await this.#api.call(deviceControlRoutes.lease, { params: this.#params, body: { duration_ms: leaseMs } });
  }
}

/** Snapshot of the files that a push would read, with their times and sizes. */
export async function lookAtFolder(root: string): Promise<string> {
  const { paths } = await listLocalFiles(root, (await readBase(root)).keys());
  const looks = paths.map(async (file) => {
    const found = await stat(path.join(root, file)).catch(() => undefined);
    return `${file} ${found?.mtimeMs} ${found?.size}`;
  });
  return (await Promise.all(looks)).join('\n');
}

interface Watch {
  readonly root: string;
  /** Snapshot of the folder to compare with. */
  readonly seen: string;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

/** Tells of each change of the folder's files once they have come to rest, until the signal. */
export async function watchFolder({ root, seen, signal, onChange }: Watch): Promise<void> {
  let [told, last] = [seen, seen];
  while (await isOn(signal)) {
    // A folder that is being moved cannot be read for a moment.
    const now = await lookAtFolder(root).catch(() => last);
    const isAtRest = now === last;
    last = now;
    if (!isAtRest || now === told) continue;
    told = now;
    onChange();
  }
}

const isOn = (signal: AbortSignal): Promise<boolean> => sleep(lookMs, true, { signal }).catch(() => false);
