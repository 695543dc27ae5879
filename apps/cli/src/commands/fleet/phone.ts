import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PhoneReport } from '@phalanx/host';
import { address, peerAddress } from '@phalanx/settings';
import { type Command, Option } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { type Host, type Pairing, pairingRoutes } from '@phalanx/protocol';
import { renderUnicodeCompact } from 'uqr';

import { printable } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { repeated } from '../../option-values.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { listHosts } from './devices.ts';

const pollMs = 1000;

interface CheckFlags {
  readonly app: string[];
  readonly adbServer: string;
  readonly output?: string;
  readonly json?: true;
}

/** `phalanx phone`, with `pair`, and `check`: how each way to the screen does on one phone, side by side. */
export function addPhoneCommand(program: Command): void {
  const phone = program.command('phone').description('check one phone, or pair one with a host');
  addPairCommand(phone);
  phone
    .command('check')
    .description(
      'read ten screens of a phone by both UI helpers and by "uiautomator dump", and compare them. Opens apps, and writes the clipboard. Stop the host that uses the phone first',
    )
    .argument(
      '<phone>',
      'its serial number or USB port (usb:1-4) at the ADB server, or its address, such as 192.168.1.20:5555',
    )
    .option('--app <package>', 'an app whose first screen to read; repeatable', repeated, [])
    .addOption(
      new Option('--adb-server <address>', 'the ADB server that has the phone').default('127.0.0.1:5037'),
    )
    .option('--output <file>', 'write the report as JSON, for an issue: it has no text of a screen')
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

/** `phalanx phone pair`: a QR code in the terminal, and what becomes of it. */
export function addPairCommand(phone: Command): void {
  const pair = phone
    .command('pair')
    .description(
      'pair a phone without a cable (Android 11 and newer) with a host: shows a code that the phone scans in Developer options, Wireless debugging, "Pair device with QR code"',
    )
    .option('--host <host>', 'name or ID of the host; not needed when you have one')
    .action(async (flags: ConnectionFlags & { host?: string }) => {
      const { api } = await connect(flags);
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
    });
  addConnectionOptions(pair);
}

function chooseHost(all: readonly Host[], text: string | undefined): Host {
  const own = all.filter(({ role, connected }) => role === 'owner' && connected);
  const found = text === undefined ? own : own.filter(({ id, name }) => id === text || name === text);
  const [host] = found;
  if (host === undefined)
    throw usageError(
      text === undefined
        ? 'No host of yours is connected: "phalanx host --help".'
        : `No connected host of yours is "${text}": "phalanx hosts" lists them.`,
    );
  if (found.length > 1)
    throw usageError(`Name a host by --host: ${own.map(({ id, name }) => `${name} (${id})`).join(', ')}.`);
  return host;
}

/** Each state once. */
function tell({ state, reason, serial }: Pairing, told: string | undefined): string {
  const line = state === 'connected' && serial !== null ? `${serial}: ${reason}` : reason;
  if (line !== told && state !== 'failed') console.log(printable(line));
  return line;
}
