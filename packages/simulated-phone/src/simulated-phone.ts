import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { AdbConnection, type AdbDevice } from './adb/adb-connection.ts';
import { Authorization } from './adb/authorization.ts';
import { DeviceSockets, findService } from './adb/services.ts';
import { Android } from './android/android.ts';
import type { Boot } from './android/boot.ts';
import type { Identity } from './android/identity.ts';
import { workProfile } from './android/packages/packages.ts';
import type { Dialog, App } from './view/app.ts';
import { sampleApps } from './apps/sample-apps.ts';
import { type Faults, noFaults } from './faults.ts';
import type { Phone } from './phone.ts';
import {
  androidReleases,
  makerProfiles,
  ownProfile,
  type AndroidVersion,
  type MakerName,
} from './profiles.ts';
import { Camera, type PictureFormat } from './screen/camera.ts';
import type { Program } from './shell/program.ts';
import { createShell } from './shell/shell.ts';
import { Instrumentation } from './ui-server/instrumentation.ts';
import { startUiServer } from './ui-server/ui-server.ts';
import type { Display } from './android/display/display.ts';

export interface SimulatedPhone {
  readonly serial: string;
  readonly host: '127.0.0.1';
  readonly port: number;
  /** Model of Android: the screen, the inputs, the installed apps. */
  readonly android: Android;
  readonly faults: Faults;
  /** Computers that may debug the phone. */
  readonly authorization: Authorization;
  /** Whether the process of the UiAutomator2 server is alive, with or without its UiAutomation. */
  readonly isUiServerRunning: boolean;
  /** Number of programs that are encoding video of the screen. */
  readonly encoderCount: number;
  /** Number of open ADB connections. */
  readonly connectionCount: number;
  /** Finds a service of adbd by its ADB name, such as `shell,v2,raw:id` or `tcp:6790`. */
  findService: AdbDevice['findService'];
  /** Takes a picture of the screen like `screencap`. `raw` is RGBA. */
  screenshot(format: PictureFormat): Promise<Buffer>;
  /** Closes the port, all connections and all timers. */
  stop(): Promise<void>;
}

const maxConnections = 64;

const surpriseDialog: Dialog = {
  title: 'Update available',
  message: 'A new version of this app is ready to be installed.',
  buttons: [{ label: 'Not now' }, { label: 'Update' }],
};

function identityOf(options: SimulatedPhoneOptions): Identity {
  const profile = options.profile === undefined ? ownProfile : makerProfiles[options.profile];
  const maker = options.allowsGrants
    ? { ...profile, refusesGrants: false, clearRefusal: undefined }
    : profile;
  const version = options.android ?? 15;
  const { brand = maker.brand, model = maker.model } = options;
  return {
    serial: maker.sharedSerial ?? options.serial,
    androidId: options.androidId ?? androidIdOf(`${options.serial} ${brand} ${model}`),
    bootId: options.bootId,
    brand,
    model,
    device: maker.device,
    androidVersion: String(version),
    sdkVersion: androidReleases[version].sdkVersion,
    maker,
    release: androidReleases[version],
  };
}

/** Derives the Android ID, so that a phone keeps it across starts. */
const androidIdOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Banner that `adb devices -l` shows. Names only features that this device really serves. */
function bannerOf({ model, device }: Identity): string {
  const features = 'shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir';
  return `device::ro.product.name=${device};ro.product.model=${model};ro.product.device=${device};features=${features}`;
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The simulated phone has no TCP port.');
  return address.port;
}

type FaultActions = Pick<Faults, 'drop' | 'killUiServer' | 'killUiAutomation' | 'reboot'>;

/** Creates the faults of a phone: plain fields, and actions with an immediate effect. */
function createFaults(android: Android, actions: FaultActions): Faults {
  const faults: Faults = {
    ...noFaults(),
    get frozenScreen() {
      return android.shown.isFrozen;
    },
    set frozenScreen(isFrozen) {
      android.shown.freeze(isFrozen);
    },
    ...actions,
    turnScreenOff: () => android.setScreenOn(false),
    crashApp: (packageName) => android.crash(packageName ?? android.currentPackage),
    showDialog: (dialog) => android.showDialog(dialog ?? surpriseDialog),
    clear: () => void Object.assign(faults, noFaults()),
  };
  return faults;
}

function createAndroid(options: SimulatedPhoneOptions): Android {
  const identity = identityOf(options);
  const android = new Android({
    identity,
    display: options.display ?? identity.maker.display,
    pin: options.pin,
    fullScreenApps: options.fullScreenApps ?? [],
    timeOfDay: options.timeOfDay,
    apps: options.apps ?? sampleApps,
    storageBytes: options.storageBytes ?? 84e9,
  });
  for (const entry of options.installedPackages ?? []) android.packages.add({ ...entry, isSystem: false });
  if (options.workProfilePackages !== undefined) android.packages.addUser(workProfile);
  for (const name of options.workProfilePackages ?? [])
    android.packages.add({ name, versionCode: 1, versionName: '1.0', isSystem: false }, workProfile);
  return android;
}

/** Creates the phone behind its USB port: everything except the ADB connections. */
function createPhone(
  options: SimulatedPhoneOptions,
  { drop, reboot, power }: Pick<Faults, 'drop' | 'reboot'> & { power: PowerSwitch },
) {
  const android = createAndroid(options);
  const sockets = new DeviceSockets();
  const instrumentation: Instrumentation = new Instrumentation({
    android,
    sockets,
    canRun: options.uiAutomator2 ?? true,
    startServer: (onStop) => startUiServer(phone, onStop),
    onConnect: () => void Object.assign(faults, { wornHelper: false, emptyWebPages: false }),
  });
  const faults = createFaults(android, {
    drop,
    reboot,
    killUiServer: () => {
      instrumentation.stop();
      for (const end of phone.residents) end();
    },
    killUiAutomation: () => instrumentation.killUiAutomation(),
  });
  const phone = {
    android,
    faults,
    camera: new Camera(
      () => {
        faults.beforeReading?.();
        return android.screen;
      },
      () => faults.secureWindow || faults.forbidsCapture,
    ),
    instrumentation,
    sockets,
    encoders: new Set<object>(),
    residents: new Set<() => void>(),
    get isBooted() {
      return android.isBooted && !faults.bootNotCompleted;
    },
    reboot,
    power,
  } satisfies Phone;
  return phone;
}

/** Creates the device that adbd offers for a phone. */
function createDevice(
  phone: Phone,
  { authorization, programs }: { authorization: Authorization; programs: ReadonlyMap<string, Program> },
): AdbDevice {
  const { android, faults, sockets } = phone;
  const services = {
    run: createShell(phone, programs),
    files: android.files,
    sockets,
    reboot: () => phone.reboot(),
    power: () => phone.power.signal,
  };
  return {
    authorization,
    faults,
    banner: () => bannerOf(android.identity),
    findService: async (name) => {
      if (faults.slowMs > 0) await new Promise((resolve) => setTimeout(resolve, faults.slowMs));
      return findService(services, name);
    },
  };
}

/** Starts a phone on 127.0.0.1. Rejects if the port is in use. A running phone keeps the process alive. */
export async function startSimulatedPhone(options: SimulatedPhoneOptions): Promise<SimulatedPhone> {
  const connections = new Map<Socket, AdbConnection>();
  const drop = () => {
    for (const connection of [...connections.values()]) connection.drop();
  };
  const power = new PowerSwitch();
  const phone = createPhone(options, {
    power,
    drop,
    reboot: () => {
      power.cut();
      drop();
      phone.instrumentation.stop();
      power.start(phone.android.restart(), options.bootMs ?? 300);
    },
  });
  const authorization = new Authorization(options.requireAuthorization ?? false);
  const device = createDevice(phone, { authorization, programs: options.programs ?? new Map() });
  const server = createServer((socket) => {
    if (phone.android.boot.phase === 'off') {
      socket.destroy();
      return;
    }
    connections.set(socket, new AdbConnection(socket, device));
    socket.once('close', () => connections.delete(socket));
  });
  server.maxConnections = maxConnections;
  const port = await listen(server, options.port ?? 0);
  // From here on, only a lack of file descriptors can make the server fail; it then accepts no new connection.
  server.on('error', () => {});

  return {
    serial: phone.android.identity.serial,
    host: '127.0.0.1',
    port,
    android: phone.android,
    faults: phone.faults,
    authorization,
    get isUiServerRunning() {
      return phone.instrumentation.isRunning;
    },
    get encoderCount() {
      return phone.encoders.size;
    },
    get connectionCount() {
      return connections.size;
    },
    findService: (name) => device.findService(name),
    screenshot: (format) => phone.camera.take(format),
    async stop() {
      power.cut();
      phone.instrumentation.stop();
      phone.android.stop();
      drop();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** Fraction of a restart after which adbd replies while Android's services are still starting. */
const adbdShare = 0.4;

/** Electric power of a phone; cutting it ends everything that runs. */
class PowerSwitch {
  #cut = new AbortController();
  #timers: NodeJS.Timeout[] = [];

  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  cut(): void {
    this.#cut.abort();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Advances through the phases of a start. */
  start(boot: Boot, durationMs: number): void {
    this.#cut = new AbortController();
    this.#timers = [
      setTimeout(() => (boot.phase = 'starting'), durationMs * adbdShare),
      setTimeout(() => (boot.phase = 'up'), durationMs),
    ];
    for (const timer of this.#timers) timer.unref();
  }
}

export interface SimulatedPhoneOptions {
  /**
   * `ro.serialno`, by which a host identifies phones; empty for none. A profile with a shared serial number overrides
   * it.
   */
  readonly serial: string;
  /**
   * `android_id` of its settings, shared by copies of one data partition. Default: derived from serial number, brand
   * and model.
   */
  readonly androidId?: string;
  /** `boot_id` of the kernel, shared by containers on one kernel. Default: a new one at each restart. */
  readonly bootId?: string;
  /** Maker of the phone, which sets its name, its display and its behavior. Default: our own, with AOSP's behavior. */
  readonly profile?: MakerName;
  /** Whether the maker's switch that lets the shell grant permissions and clear data is on. Default: false. */
  readonly allowsGrants?: boolean;
  /** Android release. Default: 15. */
  readonly android?: AndroidVersion;
  /** PIN of the lock screen; after a restart, most apps can't be started before it is entered. Default: none. */
  readonly pin?: string;
  /** Start time of Android after a restart, in ms. Default: 300. */
  readonly bootMs?: number;
  /** TCP port on 127.0.0.1. Default: 0, any free port. adb itself scans the odd ports from 5555 to 5585. */
  readonly port?: number;
  /** Brand. Default: the profile's. */
  readonly brand?: string;
  /** Model. Default: the profile's. */
  readonly model?: string;
  /** Display size in pixels and dots per inch. Default: the profile's. */
  readonly display?: Display;
  /** Whether only computers with an accepted key are let in. Default: false. */
  readonly requireAuthorization?: boolean;
  /** Whether the UiAutomator2 server can run on this phone once it is installed. Default: true. */
  readonly uiAutomator2?: boolean;
  /** Packages installed in addition to the sample apps, such as the UiAutomator2 server's. Default: none. */
  readonly installedPackages?: readonly {
    readonly name: string;
    readonly versionCode: number;
    readonly versionName: string;
  }[];
  /** Names of packages installed for a work profile, which is user 10. Default: no work profile. */
  readonly workProfilePackages?: readonly string[];
  /** Apps of the phone, one of which is a home screen. Default: the sample apps. */
  readonly apps?: readonly App[];
  /** Packages of apps that hide the system bars, like players and games. Default: none. */
  readonly fullScreenApps?: readonly string[];
  /** Fixed time (HH:MM) in the status bar, for pictures that must be identical. Default: the computer's time. */
  readonly timeOfDay?: string;
  /** Programs of the shell by name, which replace the phone's own. Default: none. */
  readonly programs?: ReadonlyMap<string, Program>;
  /** Capacity in bytes for files, which are held in memory. Default: 84 GB. */
  readonly storageBytes?: number;
}
