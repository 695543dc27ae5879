import type { Duplex } from 'node:stream';
import type { DeviceSockets } from '../adb/device-sockets.ts';
import type { ShellOutput } from '../adb/shell-service.ts';
import type { Packages } from '../android/packages.ts';

const serverPackage = 'io.appium.uiautomator2.server';
const testPackage = `${serverPackage}.test`;
const component = `${testPackage}/androidx.test.runner.AndroidJUnitRunner`;
const portName = 'tcp:6790';

/** The running UiAutomator2 server, as the command that runs it sees it. */
export interface UiServer {
  /** Serves HTTP on a connection to the device's port. */
  accept(stream: Duplex): void;
  /** Cuts all connections. */
  close(): void;
}

export interface InstrumentationOptions {
  readonly packages: Packages;
  readonly sockets: DeviceSockets;
  /** False for a phone whose server dies at its start. */
  readonly canRun: boolean;
  startServer(onStop: () => void): UiServer;
}

interface Caller {
  readonly stdout: ShellOutput;
  readonly signal: AbortSignal;
}

const missing = `INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{`;
const statusHead =
  'INSTRUMENTATION_STATUS: class=io.appium.uiautomator2.server.test.AppiumUiAutomator2Server\n' +
  'INSTRUMENTATION_STATUS: current=1\nINSTRUMENTATION_STATUS: id=AndroidJUnitRunner\nINSTRUMENTATION_STATUS: numtests=1\n' +
  'INSTRUMENTATION_STATUS: test=startServer\nINSTRUMENTATION_STATUS_CODE: 1\n';

/** `am instrument`: runs the UiAutomator2 server for as long as the command does. */
export class Instrumentation {
  readonly #options: InstrumentationOptions;
  #stop: ((reason: string) => void) | undefined;

  constructor(options: InstrumentationOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#stop !== undefined;
  }

  /** Runs until it is stopped; with `-w` the command stays open for that long. Resolves to the exit code. */
  async run(name: string, caller: Caller, waits: boolean): Promise<number> {
    const { packages, canRun } = this.#options;
    const isInstalled =
      packages.find(serverPackage) !== undefined && packages.find(testPackage) !== undefined;
    if (name !== component || !isInstalled) {
      await caller.stdout.write(`${missing}${name}}\nINSTRUMENTATION_STATUS_CODE: -1\n`);
      return 1;
    }
    if (!canRun) {
      await caller.stdout.write(
        'INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n',
      );
      return 0;
    }
    this.stop('Process crashed.');
    const stopped = this.#start();
    await caller.stdout.write(statusHead);
    if (!waits) return 0;
    const onAbort = () => this.stop('Process crashed.');
    caller.signal.addEventListener('abort', onAbort, { once: true });
    if (caller.signal.aborted) onAbort();
    const reason = await stopped;
    caller.signal.removeEventListener('abort', onAbort);
    if (!caller.signal.aborted) await caller.stdout.write(reason);
    return 0;
  }

  /** `am force-stop` and an installation end the processes of a package. */
  stopPackage(packageName: string): void {
    if (packageName === serverPackage || packageName === testPackage) this.stop('Process crashed.');
  }

  stop(reason: string): void {
    this.#stop?.(`INSTRUMENTATION_RESULT: shortMsg=${reason}\nINSTRUMENTATION_CODE: 0\n`);
  }

  /** Resolves, when the server has stopped, to what the command then prints. */
  #start(): Promise<string> {
    return new Promise((resolve) => {
      const server = this.#options.startServer(() =>
        stop('INSTRUMENTATION_RESULT: stream=\n\nOK (1 test)\n\nINSTRUMENTATION_CODE: -1\n'),
      );
      const unlisten = this.#options.sockets.listen(portName, (stream) => server.accept(stream));
      const stop = (output: string) => {
        if (this.#stop !== stop) return;
        this.#stop = undefined;
        unlisten();
        server.close();
        resolve(output);
      };
      this.#stop = stop;
    });
  }
}
