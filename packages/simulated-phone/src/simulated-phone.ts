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
  /** The modelled Android: what is on the screen, what was tapped and typed, what is installed. */
  readonly android: Android;
  readonly faults: Faults;
  /** The computers that may debug the phone. */
  readonly authorization: Authorization;
  /** Whether the process of the UiAutomator2 server lives, with or without its UiAutomation. */
  readonly isUiServerRunning: boolean;
  /** How many programs encode video of the screen. */
  readonly encoderCount: number;
  /** How many ADB connections are open. */
  readonly connectionCount: number;
  /** Finds a service of adbd, by ADB's name for it, such as `shell,v2,raw:id` or `tcp:6790`. */
  findService: AdbDevice['findService'];
  /** A picture of the screen, as `screencap` takes it. `raw` is RGBA. */
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

/** A phone that is started again is the same one. */
const androidIdOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Banner that `adb devices -l` shows. Only features that this device really serves are named. */
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

/** The faults of a phone: plain fields, and what acts at once. */
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

/** The phone behind its USB port: everything but the ADB connections. */
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

/** The device that adbd offers for a phone. */
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

/** Starts a phone on 127.0.0.1. Rejects when the port is taken. A phone alone keeps the process alive. */
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
  // After this, only a lack of file descriptors can make the server fail; it then takes no new connection.
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

/** Share of a restart after which adbd answers and Android's services are still on their way. */
const adbdShare = 0.4;

/** The electric power of a phone: what runs on it ends when it is cut. */
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

  /** Lets the phases of a start pass. */
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
  /** `ro.serialno`, by which a host tells phones apart, empty for none; a profile with a shared serial number overrides it. */
  readonly serial: string;
  /** The `android_id` of its settings, as copies of one data partition share it. Default: made from serial number, brand and model. */
  readonly androidId?: string;
  /** The `boot_id` of the kernel, as containers on one kernel share it. Default: a new one at each restart. */
  readonly bootId?: string;
  /** Whose phone it is: its name, its display and its ways. Default: our own, with AOSP's ways. */
  readonly profile?: MakerName;
  /** Whether the maker's switch is on that lets the shell grant permissions and clear data. Default: false. */
  readonly allowsGrants?: boolean;
  /** Release of Android. Default: 15. */
  readonly android?: AndroidVersion;
  /** The phone asks for it on the lock screen, and until then its apps can't be started after a restart. Default: none. */
  readonly pin?: string;
  /** How long Android takes to start after a restart, in milliseconds. Default: 300. */
  readonly bootMs?: number;
  /** TCP port on 127.0.0.1. Default: 0, any free one. adb's own scan takes the odd ones of 5555 to 5585. */
  readonly port?: number;
  /** Default: the profile's. */
  readonly brand?: string;
  /** Default: the profile's. */
  readonly model?: string;
  /** Pixels and dots per inch. Default: the profile's. */
  readonly display?: Display;
  /** Lets in only computers whose key was allowed. Default: false. */
  readonly requireAuthorization?: boolean;
  /** Whether the UiAutomator2 server can run on this phone once it is installed. Default: true. */
  readonly uiAutomator2?: boolean;
  /** Packages that are installed besides the sample apps, such as the UiAutomator2 server's. Default: none. */
  readonly installedPackages?: readonly {
    readonly name: string;
    readonly versionCode: number;
    readonly versionName: string;
  }[];
  /** Names of packages that are installed for a work profile, which is user 10. Default: no work profile. */
  readonly workProfilePackages?: readonly string[];
  /** Apps of the phone, one of them a home screen. Default: the sample apps. */
  readonly apps?: readonly App[];
  /** Packages of apps that hide the bars of the system, as players and games do. Default: none. */
  readonly fullScreenApps?: readonly string[];
  /** HH:MM of the status bar, which stays, as pictures of one screen have to be equal. Default: that of the computer. */
  readonly timeOfDay?: string;
  /** Programs of the shell by their names, in place of the phone's own. Default: none. */
  readonly programs?: ReadonlyMap<string, Program>;
  /** Room for files, which are kept in memory. Default: 84 GB. */
  readonly storageBytes?: number;
}
