import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { sendFile } from '@phalanx/client/send-file';
import { deviceControlRoutes, type SentFile } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { usageError } from '../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../launch/find-by-name.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { printJson } from '../../output/table.ts';
import { deviceText, leaseOption, leaseQuery } from './control.ts';

interface Flags extends ConnectionFlags {
  folder?: string;
  lease?: string;
  json?: true;
}

/** `phalanx clipboard` and `phalanx send`: text and files between this computer and a phone. */
export function addTransferCommands(program: Command): void {
  const clipboard = program
    .command('clipboard')
    .description("print the text on a phone's clipboard, or replace it")
    .argument('<device>', deviceText)
    .argument('[text]', 'text to put on the clipboard')
    .option(...leaseOption)
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
On Android 10 and newer, only hosts with PHALANX_HELPER=resident can read it.

Examples:
  phalanx clipboard SIM0001
  phalanx clipboard SIM0001 "Ada Lovelace"`,
    )
    .action(useClipboard);
  addConnectionOptions(clipboard);
  const send = program
    .command('send')
    .description('send a file to a phone: install an APK, or store another file where apps find it')
    .argument('<device>', deviceText)
    .argument('<file>', 'APK or bundle of APKs (.apk, .apks, .xapk, .apkm), or any other file')
    .option(
      '--folder <path>',
      'folder on the phone, such as /sdcard/DCIM/Camera (default: Pictures, Movies, Music or Download, by file type)',
    )
    .option(...leaseOption)
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Only hosts with PHALANX_ALLOW_APP_CHANGES=true install apps.

Examples:
  phalanx send SIM0001 shop.apk
  phalanx send SIM0001 photo.jpg
  phalanx send SIM0001 photo.jpg --folder /sdcard/DCIM/Camera`,
    )
    .action(sendGiven);
  addConnectionOptions(send);
}

async function useClipboard(device: string, text: string | undefined, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const params = { id: deviceIdOf(await listDevices(api), device) };
  const query = leaseQuery(flags.lease);
  if (text === undefined) {
    const reply = await api.call(deviceControlRoutes.clipboard, { params, query });
    if (flags.json) printJson(reply);
    else console.log(printable(reply.text));
    return;
  }
  const body = { type: 'clipboard', text } as const;
  const reply = await api.call(deviceControlRoutes.input, { params, query, body });
  if (flags.json) printJson(reply);
  else printMessage(reply);
}

async function sendGiven(device: string, file: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const params = { id: deviceIdOf(await listDevices(api), device) };
  const content = await openFile(file);
  const name = path.basename(file);
  const isShown = process.stderr.isTTY && !flags.json;
  const sent = await sendFile(
    (body) => api.call(deviceControlRoutes.sendFile, { params, query: leaseQuery(flags.lease), body }),
    {
      name,
      content,
      folder: flags.folder,
      onProgress: (share) => {
        if (isShown) process.stderr.write(`\r${Math.round(100 * share)} % sent${share === 1 ? '\n' : ''}`);
      },
    },
  );
  if (flags.json) printJson({ ...sent, success: true });
  else printMessage({ message: sentence(sent, { name, device }) });
}

function sentence(sent: SentFile, { name, device }: { name: string; device: string }): string {
  const { state, path: place = name, in_media_store: isIndexed, not_installed: left = [] } = sent;
  if (state === 'installed') {
    const whole = `${name} is installed on the device ${device}.`;
    return left.length === 0
      ? whole
      : `${whole} Parts of the bundle that were not installed: ${left.join(', ')}.`;
  }
  const seen =
    isIndexed === true
      ? 'Apps can see it.'
      : 'Its media index does not list the file: apps find it only by its path.';
  return `The device ${device} has the file: ${place}. ${seen}`;
}

async function openFile(file: string): Promise<Blob> {
  const isFile = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isFile) throw usageError(`The file ${file} does not exist.`);
  return openAsBlob(file);
}
