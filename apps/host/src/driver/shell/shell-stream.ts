import type { Duplex } from 'node:stream';
import { toSocketDuplex } from '../uiautomator2/socket-duplex.ts';
import type { PhoneShell } from './phone-shell.ts';
import { readTail, separate } from './shell-output.ts';

const stdinId = 0;
const headerBytes = 5;
const maxPacketBytes = 64 * 1024;

/** A running command of a phone with its standard streams. */
export interface ShellStream {
  readonly stdout: AsyncIterable<Uint8Array>;
  write(bytes: Buffer): void;
  /** The last of what it printed on standard error, when it has ended or the connection has. Never rejects. */
  readonly ended: Promise<string>;
  close(): void;
}

/** Needs the shell v2 protocol, which ends the command with the connection. */
export async function startShellStream(
  shell: PhoneShell,
  command: string,
  signal: AbortSignal,
): Promise<ShellStream> {
  const duplex = toSocketDuplex(await shell.open(`shell,v2,raw:${command}`, signal));
  const { stdout, stderr } = separate(duplex);
  return {
    stdout,
    write: (bytes) => writePackets(duplex, bytes),
    ended: readTail(stderr),
    close: () => void duplex.destroy(),
  };
}

function writePackets(duplex: Duplex, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += maxPacketBytes) {
    const part = bytes.subarray(at, at + maxPacketBytes);
    const header = Buffer.alloc(headerBytes);
    header.writeUInt8(stdinId, 0);
    header.writeUInt32LE(part.length, 1);
    duplex.write(Buffer.concat([header, part]));
  }
}
