import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeScrcpyServer } from '@phalanx/simulated-phone';

import { createPhoneShell } from '../../apps/host/src/driver/shell/phone-shell.ts';
import { runScrcpy } from '../../apps/host/src/driver/video/run-scrcpy.ts';
import { findScrcpyServer } from '../../apps/host/src/driver/video/scrcpy-file.ts';
import { connectTo } from './bare-helper.ts';

/** Writes a file that simulated phones accept as scrcpy's server. */
export async function writeScrcpyServer(folder: string): Promise<string> {
  const file = path.join(folder, 'scrcpy-server');
  await writeFile(file, makeScrcpyServer('3.3.3'));
  return file;
}

/** Counts the packets of video that a phone sends in a time, at its socket. */
export async function countPackets(port: number, dataDir: string, durationMs: number): Promise<number> {
  const connection = await connectTo(port, dataDir);
  const shell = createPhoneShell(connection);
  const server = await findScrcpyServer(await writeScrcpyServer(dataDir), undefined);
  if ('reason' in server) throw new Error(server.reason);
  let packets = 0;
  const screen = { width: 1080, height: 2400 };
  const over = AbortSignal.timeout(durationMs);
  await runScrcpy({ shell, server, screen, use: 'live', onPacket: () => (packets += 1) }, over).catch(
    (error: unknown) => {
      if (!over.aborted) throw error;
    },
  );
  connection.close();
  return packets;
}
