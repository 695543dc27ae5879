import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { PhoneReport } from '@phalanx/host';
import { address, peerAddress } from '@phalanx/settings';
import { type Command as PlainCommand, Option } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { type Host, type Pairing, pairingRoutes } from '@phalanx/protocol';
import { renderUnicodeCompact } from 'uqr';

import { printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { repeated } from '../../option-values.ts';
import { serverCommand } from '../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { listHosts } from './devices.ts';

const pollMs = 1000;

interface CheckFlags {
  readonly app: string[];
  readonly adbServer: string;
  readonly output?: string;
  readonly json?: true;
}

/** `phalanx phone`, with `pair`, and with `check`, which compares the ways to read the screen on one phone. */
export function addPhoneCommand(program: PlainCommand): void {
  const phone = program.command('phone').description('check a phone, or pair one with a host');
  addPairCommand(phone);
  phone
    .command('check')
    .description(
      'compare both UI helpers and "uiautomator dump" on ten screens of a phone; opens apps and writes the clipboard (stop the host of the phone first)',
    )
    .argument(
      '<phone>',
      'serial number or USB port (usb:1-4) at the ADB server, or an address such as 192.168.1.20:5555',
    )
    .option('--app <package>', 'app whose first screen is read as well (repeatable)', repeated, [])
    .addOption(new Option('--adb-server <address>', 'ADB server of the phone').default('127.0.0.1:5037'))
    .option('--output <file>', 'write the report as JSON, for an issue; it contains no text of a screen')
    .option('--json', 'print the report as JSON')
    .action(async (text: string, flags: CheckFlags) => {
      const report = await check(text, flags);
      if (flags.output !== undefined) await writeFile(flags.output, `${JSON.stringify(report, null, 2)}\n`);
      if (flags.json) printJson(report);
      else printReport(report);
    });
}

async function check(text: string, flags: CheckFlags): Promise<PhoneReport> {
  const { checkPhone } = await import('@phalanx/host');
  const isAddress = /^[^:]+:\d+$/.test(text) && !text.startsWith('usb:');
  const dataDir = await mkdtemp(join(tmpdir(), 'phalanx-check-'));
  try {
    return await checkPhone({
      serial: isAddress ? undefined : text,
      address: isAddress ? peerAddress.parse(text, 'phone') : address.parse(flags.adbServer, '--adb-server'),
      dataDir,
      apps: flags.app,
      onProgress: (sentence) => console.error(sentence),
    });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const median = (times: readonly number[] = []): string =>
  times.length === 0 ? '-' : `${[...times].sort((a, b) => a - b)[times.length >> 1] ?? 0} ms`;

function printReport({ phone, ways, differences }: PhoneReport): void {
  console.log(printable(`${phone.brand} ${phone.model}, Android ${phone.androidVersion}\n`));
  const wayRows = ways.map((way) => ({
    way: way.way,
    start: way.start_ms === undefined ? '-' : `${way.start_ms} ms`,
    key: median(way.key_ms),
    tap: median(way.tap_ms),
    windows: String(way.windows ?? '-'),
    clipboard: way.clipboard === true ? 'yes' : 'no',
    failure: way.failure ?? '',
  }));
  printTable({ flexible: 'failure', rows: wayRows }, '');
  console.log('');
  const rows = ways.flatMap(({ way, screens }) =>
    Object.entries(screens).map(([screen, figures]) => ({
      screen,
      way,
      nodes: 'nodes' in figures ? String(figures.nodes) : '-',
      texts: 'texts' in figures ? String(figures.texts) : '-',
      read: 'read_ms' in figures ? median(figures.read_ms) : '-',
      missing: differences
        .filter((one) => one.screen === screen && one.way === way && one.missing_texts > 0)
        .map(({ against, missing_texts }) => `${missing_texts} of ${against}`)
        .join(', '),
      failure: 'failure' in figures ? figures.failure : '',
    })),
  );
  rows.sort((a, b) => a.screen.localeCompare(b.screen));
  printTable({ flexible: 'failure', rows }, 'No screen could be read.');
}

/** `phalanx phone pair`: shows a QR code in the terminal, and the progress of the pairing. */
function addPairCommand(phone: PlainCommand): void {
  serverCommand(phone, 'pair', {
    about:
      'pair a phone with a host without a cable (Android 11 and newer): scan the code in Developer options, Wireless debugging, "Pair device with QR code"',
    json: false,
    build: (command: Command) =>
      command.option('--host <host>', 'name or ID of the host; required if you have several'),
    async run({ api }, flags) {
      const host = chooseHost(await listHosts(api), flags.host);
      const params = { id: host.id };
      const { pairing: first, code } = await api.call(pairingRoutes.start, { params });
      console.log(renderUnicodeCompact(code, { border: 2 }));
      let told = tell(first, undefined);
      for (let pairing = first; pairing.state !== 'connected';) {
        if (pairing.state === 'failed') throw new CommandError(exitCodes.failed, printable(pairing.reason));
        await pause(pollMs);
        ({ pairing } = await api.call(pairingRoutes.get, { params: { ...params, pairing_id: first.id } }));
        told = tell(pairing, told);
      }
    },
  });
}

function chooseHost(all: readonly Host[], text: string | undefined): Host {
  const own = all.filter(({ role, connected }) => role === 'owner' && connected);
  const found = text === undefined ? own : own.filter(({ id, name }) => id === text || name === text);
  const [host] = found;
  if (host === undefined)
    throw usageError(
      text === undefined
        ? 'None of your hosts is connected: see "phalanx host --help".'
        : `None of your connected hosts is "${text}": "phalanx hosts" lists your hosts.`,
    );
  if (found.length > 1)
    throw usageError(
      `Several hosts are connected: choose one with --host: ${own.map(({ id, name }) => `${name} (${id})`).join(', ')}.`,
    );
  return host;
}

/** Prints each state once. */
function tell({ state, reason, serial }: Pairing, told: string | undefined): string {
  const line = state === 'connected' && serial !== null ? `${serial}: ${reason}` : reason;
  if (line !== told && state !== 'failed') console.log(printable(line));
  return line;
}
