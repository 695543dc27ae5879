import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';
import { type RealAdbd, startRealAdbd } from '@phalanx/simulated-phone/testing/real-adbd';
import { pino } from 'pino';

import { type PhoneWatch, watchPhones, type WatchPhonesOptions } from '../watch-phones.ts';
import { prepareHostKey } from '../../testing/prepare-host-key.ts';
import { helperPackages } from '../../driver/uiautomator2/start-helper.ts';
import { type AdbServerFixture, startAdbServer } from './adb-server-fixture.ts';
import { type ScriptedAdbServer, startScriptedAdbServer } from './scripted-adb-server.ts';
import { type HostStore, openHostStore } from '../../store/host-store.ts';
import type { Driver } from '../../driver/driver.ts';
import type { Phone, PhoneStateName } from '../phone.ts';

type PhoneOptions = Parameters<typeof startSimulatedPhone>[0];

/** Simulated phones, adb servers and watches of one test, which end with it. */
export interface PhoneTestBed {
  /** Data folder of the watches. */
  readonly dataDir: string;
  readonly store: HostStore;
  startPhone(options: PhoneOptions): Promise<SimulatedPhone>;
  /** Starts a phone with the UI helper preinstalled: most tests are not about its 18 MB. */
  startPreparedPhone(options: PhoneOptions): Promise<SimulatedPhone>;
  /** Starts a prepared phone. Returns it once it is ready, with a driver that reads the screen in this way. */
  startDriven(
    source: Driver['source'],
    options?: Omit<PhoneOptions, 'serial'>,
  ): Promise<{ phone: SimulatedPhone; driver: Driver }>;
  /** Starts Debian's adbd in the file system of that folder, in front of the phone. */
  startRealAdbd(phone: SimulatedPhone, root: string): Promise<RealAdbd>;
  startAdb(port?: number): Promise<AdbServerFixture>;
  startScriptedAdb(): Promise<ScriptedAdbServer>;
  watch(options: Partial<WatchPhonesOptions>): PhoneWatch;
  close(): Promise<void>;
}

export async function createPhoneTestBed(): Promise<PhoneTestBed> {
  const dataDir = await mkdtemp(join(tmpdir(), 'phalanx-phones-'));
  await prepareHostKey(dataDir);
  const log = pino({ level: process.env['PHALANX_TEST_LOG'] ?? 'silent' });
  const store = await openHostStore({ dir: dataDir, log });
  const endings: (() => Promise<void>)[] = [
    () => rm(dataDir, { recursive: true, force: true }),
    () => store.close(),
  ];
  const startPhone = async (options: PhoneOptions): Promise<SimulatedPhone> => {
    const phone = await startSimulatedPhone({ timeOfDay: '09:41', ...options });
    endings.push(() => phone.stop());
    return phone;
  };
  const watch = (options: Partial<WatchPhonesOptions>): PhoneWatch => {
    const started = watchPhones({
      addresses: [],
      dataDir,
      store,
      log,
      ...options,
      timings: { heartbeatMs: 300, probeTimeoutMs: 20_000, ...options.timings },
    });
    endings.push(() => started.close());
    return started;
  };
  const startPreparedPhone = (options: PhoneOptions): Promise<SimulatedPhone> =>
    startPhone({ installedPackages: helperPackages, ...options });
  return {
    dataDir,
    store,
    startPhone,
    startPreparedPhone,
    async startDriven(source, options) {
      const uiAutomator2 = source === 'uiautomator2';
      const phone = await startPreparedPhone({ serial: 'SIM1', uiAutomator2, ...options });
      const helper = source === 'resident' ? 'resident' : 'uiautomator2';
      const driver = (await waitForState(watch({ addresses: [phone], helper }), 'SIM1', 'ready')).driver();
      if (driver.source !== source) throw new Error(`The screen is read by ${driver.source}`);
      return { phone, driver };
    },
    async startRealAdbd(phone, root) {
      const adbd = await startRealAdbd(phone, root);
      endings.push(() => adbd.stop());
      return adbd;
    },
    async startAdb(port) {
      const adb = await startAdbServer(port);
      endings.push(() => adb.stop());
      return adb;
    },
    async startScriptedAdb() {
      const adb = await startScriptedAdbServer(dataDir);
      endings.push(() => adb.close());
      return adb;
    },
    watch,
    async close() {
      for (const end of endings.toReversed()) await end();
    },
  };
}

/** Resolves with the first phone that matches, now or after a change. It has no timeout except that of the test. */
export function waitForPhone(watch: PhoneWatch, fits: (phone: Phone) => boolean): Promise<Phone> {
  return new Promise((resolve) => {
    const look = (): boolean => {
      const phone = watch.phones().find(fits);
      if (phone === undefined) return false;
      resolve(phone);
      return true;
    };
    if (look()) return;
    const stop = watch.onChange(() => {
      if (look()) stop();
    });
  });
}

export function waitForState(watch: PhoneWatch, serial: string, ...states: PhoneStateName[]): Promise<Phone> {
  return waitForPhone(watch, (phone) => phone.serial === serial && states.includes(phone.state.state));
}
