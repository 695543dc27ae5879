import { setTimeout as pause } from 'node:timers/promises';
import { type Host, type Pairing, pairingRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';
import { renderUnicodeCompact } from 'uqr';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { printable } from '../../output/printable.ts';
import { listHosts } from './share-phones.ts';

const pollMs = 1000;

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
