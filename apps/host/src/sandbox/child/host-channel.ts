import { Socket } from 'node:net';

import type { SandboxCommand, SandboxReport } from '@phalanx/protocol';

import { createFrameReader, encodeFrame } from '../process/frames.ts';

/**
 * Maximum size of a command in bytes. The host is trusted, so the limit only detects a broken stream; screenshots are
 * the largest commands.
 */
const maxCommandBytes = 256 * 1024 * 1024;

export interface HostChannel {
  /** Never blocks, unlike `process.stdout`, which writes to pipes synchronously. */
  send(report: SandboxReport): void;
  /** Resolves when the host has read enough of the sent data. */
  drained(): Promise<void>;
}

/**
 * Opens the channel to the host. Stdin closes when the host dies in any way; then the child exits too, whatever user
 * code does.
 */
export function openHostChannel(onCommand: (command: SandboxCommand) => void): HostChannel {
  const input = new Socket({ fd: 0, readable: true, writable: false });
  const output = new Socket({ fd: 1, readable: false, writable: true });
  const read = createFrameReader(maxCommandBytes);
  input.on('data', (bytes) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host is trusted
    for (const command of read(bytes)) onCommand(command as SandboxCommand);
  });
  input.on('close', endProcess);
  input.on('error', endProcess);
  output.on('error', endProcess);
  return {
    send: (report) => void output.write(encodeFrame(report)),
    drained: () =>
      output.writableNeedDrain ? new Promise((resolve) => output.once('drain', resolve)) : Promise.resolve(),
  };
}

/** Kills the process, because `process.exit` would wait for the isolate's thread. */
function endProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
