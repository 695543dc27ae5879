import { type Duplex, PassThrough, type Readable } from 'node:stream';
import type { ServiceProgram } from './adb-connection.ts';
import { writeTo } from './write-to.ts';
import { encodeShellOutput, encodeShellPacket, readShellPackets, shellPacket } from './shell-protocol.ts';

export interface ShellOutput {
  write(data: string | Uint8Array): Promise<void>;
}

/** What a command line is run with, and the service's only view of the shell. */
export interface ShellIo {
  readonly stdin: Readable;
  readonly stdout: ShellOutput;
  readonly stderr: ShellOutput;
  /** Aborted when the program is killed: with its terminal or its shell protocol, else with the phone. */
  readonly signal: AbortSignal;
}

/** Runs a command line, an interactive shell for an empty one. Resolves to the exit code. */
export type RunCommandLine = (commandLine: string, io: ShellIo) => Promise<number>;

function toBytes(data: string | Uint8Array): Buffer {
  return typeof data === 'string'
    ? Buffer.from(data)
    : Buffer.from(data.buffer, data.byteOffset, data.length);
}

function abortOnClose(stream: Duplex): AbortSignal {
  const controller = new AbortController();
  stream.once('close', () => controller.abort());
  return controller.signal;
}

/**
 * `exec:` and the old `shell:`: bytes in, bytes out, standard error mixed into the output, no exit code. The program of
 * `exec:` has neither a terminal nor a protocol that would end it: it outlives the stream, and the connection.
 */
export function rawShellService(
  run: RunCommandLine,
  commandLine: string,
  { outlives }: { outlives: AbortSignal | undefined },
): ServiceProgram {
  return async (stream) => {
    const output: ShellOutput = { write: (data) => writeTo(stream, toBytes(data)) };
    const signal = outlives ?? abortOnClose(stream);
    await run(commandLine, { stdin: stream, stdout: output, stderr: output, signal });
    stream.end();
  };
}

async function pumpInput(stream: Duplex, stdin: PassThrough): Promise<void> {
  try {
    for await (const packet of readShellPackets(stream.iterator({ destroyOnReturn: false }))) {
      if (packet.kind === shellPacket.closeStdin) stdin.end();
      // A program that has ended reads no more; its input is dropped, as a closed pipe does.
      if (packet.kind !== shellPacket.stdin || stdin.writableEnded || stdin.destroyed) continue;
      await writeTo(stdin, packet.data).catch(() => {});
    }
  } catch {
    stream.destroy();
  } finally {
    stdin.end();
  }
}

/** `shell,v2:`: separate standard error, exit code and the end of input. */
export function packetShellService(run: RunCommandLine, commandLine: string, pty: boolean): ServiceProgram {
  return async (stream) => {
    const stdin = new PassThrough();
    stdin.on('error', () => {});
    stream.once('close', () => stdin.destroy());
    const pump = pumpInput(stream, stdin);
    const outputOf = (kind: number): ShellOutput => ({
      async write(data) {
        // A terminal ends its lines with CR LF.
        const bytes = pty
          ? Buffer.from(toBytes(data).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
          : toBytes(data);
        for (const packet of encodeShellOutput(kind, bytes)) await writeTo(stream, packet);
      },
    });
    const stdout = outputOf(shellPacket.stdout);
    const stderr = pty ? stdout : outputOf(shellPacket.stderr);
    const exitCode = await run(commandLine, { stdin, stdout, stderr, signal: abortOnClose(stream) });
    if (stream.destroyed) return;
    await writeTo(stream, encodeShellPacket(shellPacket.exit, Buffer.from([exitCode & 0xff])));
    stdin.destroy();
    stream.end();
    await pump;
  };
}
