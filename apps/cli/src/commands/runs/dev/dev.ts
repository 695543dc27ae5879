import { constants } from 'node:os';
import type { Command } from '@commander-js/extra-typings';
import { type Device, deviceControlRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '@phalanx/client/api-client';

import type { Connection } from '../../../connection/connection.ts';
import { type OptionsOf, serverCommand } from '../../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../../launch/find-by-name.ts';
import { addParameterOptions, parametersHelp, readInputs } from '../../../launch/parameters.ts';
import { notice } from '../../../output/terminal.ts';
import { getLinkedFolder } from '../../../project/project-folder.ts';
import { untilSignal } from '../../../until-signal.ts';
import { readBase } from '../../../project/remote-files.ts';
import { listLocalFiles } from '../../../project/local-files.ts';
import { DevSession, Wishes, type Wish } from './dev-session.ts';

/** Poll interval. Polling also works on network drives and in containers, where file notifications are missing. */
const lookMs = 300;

type Flags = OptionsOf<typeof devOptions>;

/** `phalanx dev`: pushes and runs a project folder on one phone after each save. */
export function addDevCommand(program: PlainCommand): void {
  serverCommand(program, 'dev', {
    about: 'push and run the current project folder on one phone after each save',
    json: false,
    build: devOptions,
    help: `The command leases the phone until you quit. After each save it stops the current run, pushes the folder (files that you
deleted are also deleted on the server), checks it and runs it from the start. It prints the log, errors beside your
source lines, and the phone's final screen in the form of "phalanx screen --compact".

Keys in a terminal: ${keysHelp} When you take control, the command prints the address
of the phone's Control page. The phone stays leased, and saves are pushed but not run until you press r. Without a
terminal there are no keys: stop the command with a signal.

${parametersHelp}
Examples:
  phalanx dev
  phalanx dev --device SIM0001 --param greeting=Servus`,
    check({ device, labels }) {
      if (device !== undefined && labels !== undefined)
        throw usageError('Pass either --device or --labels, not both.');
    },
    prepare: readInputs,
    run: dev,
  });
}

const devOptions = (command: Command) =>
  addParameterOptions(
    command
      .option('--device <device>', 'serial number, name or ID; default: the only ready phone')
      .option(
        '--labels <selector>',
        'use the first free phone that matches, such as "country=de,model~Pixel"',
      ),
  );

async function dev(connection: Connection, flags: Flags): Promise<void> {
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

/** Adds wishes from keys, saves and a signal while `work` runs. After a signal, throws with the shell's exit code. */
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
    throw new CommandError(128 + constants.signals[interruption], 'The lease of the phone has ended.');
}

function choosePhone(devices: readonly Device[], { device: text, labels }: Flags): Device {
  if (text !== undefined) {
    const id = deviceIdOf(devices, text);
    const found = devices.find((one) => one.device_id === id);
    if (found !== undefined) return found;
    throw new CommandError(exitCodes.refused, `Unknown phone "${text}": "phalanx devices" lists yours.`);
  }
  const ready = devices.filter(
    ({ state, role, lease, accepted }) => state === 'ready' && role !== 'view' && lease === null && accepted,
  );
  const [first, second] = ready;
  if (first === undefined)
    throw new CommandError(exitCodes.refused, 'No phone is free: "phalanx devices" shows why.');
  if (second === undefined || labels !== undefined) return first;
  throw usageError(
    `Several phones are free, such as ${first.serial} and ${second.serial}: choose one with --device or --labels.`,
  );
}

const keys: Readonly<Record<string, Wish>> = { r: 'run', s: 'stop', t: 'hand', q: 'quit' };

const keysHelp = 'r runs again, s stops, t takes control of the phone, q quits.';

const interrupt = '\u0003';

/** Whether the user can press keys. Without a terminal, standard input is not read. */
const hasKeys = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

/** Reads single keys until the returned function is called. In raw mode, the terminal itself sends no SIGINT. */
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

/** Leased phone: no one else can control it or launch on it. The lease expires if this program ends. */
class HeldPhone {
  readonly #api: ApiClient;
  readonly #params: { id: string };
  /** Whether to end the lease. A lease that existed before is kept. */
  readonly #isOursToEnd: boolean;
  #timer: NodeJS.Timeout | undefined;

  private constructor(api: ApiClient, { device_id: id, lease }: Device) {
    this.#api = api;
    this.#params = { id };
    this.#isOursToEnd = lease === null;
  }

  /** Leases the phone. Throws the service's refusal if someone else has leased it. */
  static async take(api: ApiClient, device: Device): Promise<HeldPhone> {
    const held = new HeldPhone(api, device);
    await held.#renew();
    // A failed renewal is ignored: the lease was ended in the console, or the service is unreachable. The next
    // renewal leases the phone again.
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

/** Returns a snapshot of the files that a push would read, with their times and sizes. */
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

/** Calls `onChange` after each change of the folder's files, once they have settled, until the signal. */
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
