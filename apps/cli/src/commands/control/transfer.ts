import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { sendFile } from '@phalanx/client/send-file';
import { deviceControlRoutes, type SentFile } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { usageError } from '../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../launch/find-by-name.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { printJson } from '../../output/table.ts';
import { deviceText, leaseOption, leaseQuery } from './control.ts';

/** `phalanx clipboard` and `phalanx send`: text and files between this computer and a phone. */
export function addTransferCommands(program: PlainCommand): void {
  serverCommand(program, 'clipboard', {
    about: "print the text on a phone's clipboard, or replace it",
    build: (command: Command) =>
      command
        .argument('<device>', deviceText)
        .argument('[text]', 'text to put on the clipboard')
        .option(...leaseOption),
    help: `On Android 10 and newer, only hosts with PHALANX_HELPER=resident can read it.

Examples:
  phalanx clipboard SIM0001
  phalanx clipboard SIM0001 "Ada Lovelace"`,
    async run({ api }, { lease, json }, device, text) {
      const params = { id: deviceIdOf(await listDevices(api), device) };
      const query = leaseQuery(lease);
      if (text === undefined) {
        const reply = await api.call(deviceControlRoutes.clipboard, { params, query });
        if (json) printJson(reply);
        else console.log(printable(reply.text));
        return;
      }
      const body = { type: 'clipboard', text } as const;
      const reply = await api.call(deviceControlRoutes.input, { params, query, body });
      if (json) printJson(reply);
      else printMessage(reply);
    },
  });
  serverCommand(program, 'send', {
    about: 'send a file to a phone: install an APK, or store another file where apps find it',
    build: sendOptions,
    json: 'print the result as JSON',
    help: `Only hosts with PHALANX_ALLOW_APP_CHANGES=true install apps.

Examples:
  phalanx send SIM0001 shop.apk
  phalanx send SIM0001 photo.jpg
  phalanx send SIM0001 photo.jpg --folder /sdcard/DCIM/Camera`,
    run: sendGiven,
  });
}

const sendOptions = (command: Command) =>
  command
    .argument('<device>', deviceText)
    .argument('<file>', 'APK or bundle of APKs (.apk, .apks, .xapk, .apkm), or any other file')
    .option(
      '--folder <path>',
      'folder on the phone, such as /sdcard/DCIM/Camera (default: Pictures, Movies, Music or Download, by file type)',
    )
    .option(...leaseOption);

async function sendGiven(
  { api }: Connection,
  flags: OptionsOf<typeof sendOptions> & ServerFlags,
  device: string,
  file: string,
): Promise<void> {
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
