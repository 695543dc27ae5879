import type { Duplex } from 'node:stream';
import type { DeviceSockets } from '../adb/services.ts';
import type { ShellOutput } from '../adb/shell-service.ts';
import type { Android } from '../android/android.ts';

const serverPackage = 'io.appium.uiautomator2.server';
const testPackage = `${serverPackage}.test`;
const component = `${testPackage}/androidx.test.runner.AndroidJUnitRunner`;
const portName = 'tcp:6790';
const picturesPortName = 'tcp:7810';

/** Running UiAutomator2 server, as seen by the command that runs it. */
export interface UiServer {
  /** Whether the server keeps running when the charger is unplugged. */
  readonly ignoresCharger: boolean;
  /** Serves HTTP on a connection to the device's port. */
  accept(stream: Duplex): void;
  /** Sends pictures on a connection to the device's other port. */
  acceptViewer(stream: Duplex): void;
  /** Cuts all connections. */
  close(): void;
}

export interface InstrumentationOptions {
  readonly android: Android;
  readonly sockets: DeviceSockets;
  /** Whether the server can run; otherwise it crashes at its start. */
  readonly canRun: boolean;
  startServer(onStop: () => void): UiServer;
  /** Called when a program connects to UiAutomation. */
  onConnect(): void;
}

interface Caller {
  readonly stdout: ShellOutput;
  readonly signal: AbortSignal;
}

interface Running {
  readonly server: UiServer;
  /** Stops this process while it is the current one; a server left behind must not stop its successor. */
  stop(output: string): void;
}

const missing = `INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{`;
const crashed = 'INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n';
const statusHead =
  'INSTRUMENTATION_STATUS: class=io.appium.uiautomator2.server.test.AppiumUiAutomator2Server\n' +
  'INSTRUMENTATION_STATUS: current=1\nINSTRUMENTATION_STATUS: id=AndroidJUnitRunner\nINSTRUMENTATION_STATUS: numtests=1\n' +
  'INSTRUMENTATION_STATUS: test=startServer\nINSTRUMENTATION_STATUS_CODE: 1\n';

/**
 * Implements `am instrument`, the process of the UiAutomator2 server. The process lives until it is stopped. Its
 * access to Android's UiAutomation depends on the `am` that started it and ends with that.
 */
export class Instrumentation {
  readonly #options: InstrumentationOptions;
  #running: Running | undefined;
  #hasUiAutomation = false;
  #isBorrowed = false;

  constructor(options: InstrumentationOptions) {
    this.#options = options;
    options.android.onUnplugged = () => {
      if (this.#running?.server.ignoresCharger === false) this.stop();
    };
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Whether this server holds the phone's only UiAutomation. */
  get holdsUiAutomation(): boolean {
    return this.#running !== undefined && this.#hasUiAutomation;
  }

  /** Whether any program holds UiAutomation. */
  get isUiAutomationTaken(): boolean {
    return this.holdsUiAutomation || this.#isBorrowed;
  }

  /** Takes UiAutomation for a program of the shell. Returns false if another program holds it. */
  borrow(): boolean {
    if (this.isUiAutomationTaken) return false;
    this.#options.onConnect();
    return (this.#isBorrowed = true);
  }

  giveBack(): void {
    this.#isBorrowed = false;
  }

  /** Returns the instrumentation as the package manager lists it; undefined if it is not installed. */
  get known(): string | undefined {
    return this.#isFound() ? `${component} (target=${serverPackage})` : undefined;
  }

  killUiAutomation(): void {
    this.#hasUiAutomation = false;
  }

  /** Runs until the server stops or its caller is killed, which the server survives. Resolves with the exit code. */
  async run(name: string, caller: Caller, waits: boolean): Promise<number> {
    if (name !== component || !this.#isFound()) {
      await caller.stdout.write(`${missing}${name}}\nINSTRUMENTATION_STATUS_CODE: -1\n`);
      return 1;
    }
    if (!this.#options.canRun || this.#isBorrowed) {
      await caller.stdout.write(crashed);
      return 0;
    }
    this.stop();
    const stopped = this.#start();
    await caller.stdout.write(statusHead).catch(() => {});
    if (!waits) return 0;
    const killed = Promise.withResolvers<undefined>();
    const onKilled = () => killed.resolve(undefined);
    caller.signal.addEventListener('abort', onKilled, { once: true });
    if (caller.signal.aborted) onKilled();
    const output = await Promise.race([stopped, killed.promise]);
    caller.signal.removeEventListener('abort', onKilled);
    if (output === undefined) this.#hasUiAutomation = false;
    else await caller.stdout.write(output);
    return 0;
  }

  /** Ends the processes of a package, as `am force-stop` and an installation do. */
  stopPackage(packageName: string): void {
    if (packageName === serverPackage || packageName === testPackage) this.stop();
  }

  stop(): void {
    this.#running?.stop(crashed);
  }

  /**
   * Whether Android finds the package: before the first PIN after a restart, it hides packages that do not support
   * that state.
   */
  #isFound(): boolean {
    const { packages, boot } = this.#options.android;
    return boot.isUserUnlocked && [serverPackage, testPackage].every((name) => packages.find(name));
  }

  /** Starts the server. Resolves with the command's output when the server has stopped. */
  #start(): Promise<string> {
    return new Promise((resolve) => {
      const { android, sockets } = this.#options;
      this.#options.onConnect();
      const server = this.#options.startServer(() =>
        running.stop('INSTRUMENTATION_RESULT: stream=\n\nOK (1 test)\n\nINSTRUMENTATION_CODE: -1\n'),
      );
      const unlisten = [
        sockets.listen(portName, (stream) => server.accept(stream)),
        sockets.listen(picturesPortName, (stream) => server.acceptViewer(stream)),
      ];
      const running: Running = {
        server,
        stop: (output) => {
          if (this.#running !== running) return;
          this.#running = undefined;
          android.holdScreen(0);
          for (const stop of unlisten) stop();
          server.close();
          resolve(output);
        },
      };
      this.#running = running;
      this.#hasUiAutomation = true;
      // Default of the real server: one day.
      android.holdScreen(24 * 3_600_000);
    });
  }
}
