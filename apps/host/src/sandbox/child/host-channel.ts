import { Socket } from 'node:net';

import type { SandboxCommand, SandboxReport } from '@phalanx/protocol';

import { createFrameReader, encodeFrame } from '../process/frames.ts';

/** The host is trusted; the limit only catches a broken stream. Screenshots come this way. */
const maxCommandBytes = 256 * 1024 * 1024;

export interface HostChannel {
  /** Never blocks, unlike `process.stdout`, which writes to pipes synchronously. */
  send(report: SandboxReport): void;
  /** Settles when the host has taken enough of what was sent. */
  drained(): Promise<void>;
}

/** Stdin closes when the host dies in any way; then the child ends too, whatever user code does. */
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

/** `process.exit` would wait for the isolate's thread. */
function endProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
