import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { TestService } from './test-service.ts';

const main = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));

interface HostProcessOptions {
  readonly service: TestService;
  readonly dataDir: string;
  /** Address of the host's only phone. */
  readonly phone: { readonly host: string; readonly port: number };
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Host in a process of its own, which a test may kill. */
export class HostProcess {
  readonly #child: ChildProcess;
  /** Resolves at the end with what the process has written to standard error. */
  readonly stderr: Promise<string>;

  constructor({ service, dataDir, phone, settings }: HostProcessOptions) {
    const child = spawn(process.execPath, [main, 'host'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PHALANX_SERVER_URL: service.url,
        PHALANX_TOKEN: service.token,
        PHALANX_DATA_DIR: dataDir,
        PHALANX_ADB_SERVER: 'off',
        PHALANX_PHONES: `${phone.host}:${phone.port}`,
        ...settings,
      },
    });
    this.#child = child;
    this.stderr = text(child.stderr);
  }

  /** Sends a signal, and resolves with the exit code when the process has ended; null after SIGKILL. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return exitCode;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
    return this.#child.exitCode;
  }

  /** Resolves with the exit code when the process has ended by itself. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
}
