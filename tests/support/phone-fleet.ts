import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';
import {
  androidReleases,
  type AndroidVersion,
  type MakerName,
  makerProfiles,
} from '@phalanx/simulated-phone/profiles';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { version } from 'appium-uiautomator2-server';

import {
  type AdbServerFixture,
  startAdbServer,
} from '../../apps/host/src/phones/testing/adb-server-fixture.ts';
import { Cable } from './cable.ts';
import type { GivenPhones } from './installation.ts';

const helper = 'io.appium.uiautomator2.server';
/** Preinstalled packages: pushing 18 MB to each of thirty phones would be a test of its own. */
const installedPackages = [helper, `${helper}.test`].map((name) => ({
  name,
  versionCode: 278,
  versionName: version,
}));

export interface FleetPhone {
  readonly phone: SimulatedPhone;
  readonly cable: Cable;
  /** Address of the phone, which also names a phone without a serial number. */
  readonly address: string;
  readonly isBehindAdb: boolean;
}

/** Phones of five makers and four Android releases on cables that can be pulled, half of them behind an adb server. */
export class PhoneFleet {
  readonly phones: readonly FleetPhone[];
  readonly #adbPort: number;
  #adb: AdbServerFixture;
  #isStopped = false;
  readonly #kept: Promise<void>;

  private constructor(phones: readonly FleetPhone[], adbPort: number, adb: AdbServerFixture) {
    this.phones = phones;
    this.#adbPort = adbPort;
    this.#adb = adb;
    this.#kept = this.#keepAdb();
  }

  static async start(count: number): Promise<PhoneFleet> {
    const phones = await Promise.all(Array.from({ length: count }, (_, index) => startPhone(index)));
    const adbPort = await freePort();
    const fleet = new PhoneFleet(phones, adbPort, await startAdbServer(adbPort));
    await fleet.#connectAll();
    return fleet;
  }

  given(): GivenPhones {
    const direct = this.phones.filter(({ isBehindAdb }) => !isBehindAdb);
    return {
      phones: this.phones.map(({ phone }) => phone),
      hostSettings: {
        PHALANX_PHONES: direct.map(({ address }) => address).join(','),
        PHALANX_ADB_SERVER: `127.0.0.1:${this.#adbPort}`,
        PHALANX_WARM_SANDBOXES: String(this.phones.length),
      },
    };
  }

  /** Plugs the phone in again. An adb server must be told of TCP phones, while it finds USB phones by itself. */
  async plug({ cable, isBehindAdb, address }: FleetPhone): Promise<void> {
    cable.plug();
    if (isBehindAdb) await this.#connect(address);
  }

  async restartAdb(): Promise<void> {
    await this.#adb.stop();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#adb.stop();
    await this.#kept;
    for (const { cable } of this.phones) cable.close();
  }

  /**
   * Restarts adb and reconnects, like a service manager and USB: Debian's adb sometimes crashes with a segmentation
   * fault during many `connect` calls.
   */
  async #keepAdb(): Promise<void> {
    for (;;) {
      await this.#adb.ended;
      if (this.#isStopped) return;
      this.#adb = await startAdbServer(this.#adbPort);
      await (this.#isStopped ? this.#adb.stop() : this.#connectAll());
    }
  }

  async #connectAll(): Promise<void> {
    const behind = this.phones.filter(({ isBehindAdb, cable }) => isBehindAdb && !cable.isPulled);
    await Promise.all(behind.map(({ address }) => this.#connect(address)));
  }

  async #connect(address: string): Promise<void> {
    const { hostname: host, port } = new URL(`http://${address}`);
    // A stopped server connects the phone when it starts.
    await this.#adb.connect({ host, port: Number(port) }).catch(() => {});
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has no keys but its own
const makers = Object.keys(makerProfiles) as MakerName[];
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const releases = Object.keys(androidReleases).map(Number) as AndroidVersion[];

async function startPhone(index: number): Promise<FleetPhone> {
  const phone = await startSimulatedPhone({
    serial: `FLEET${index + 1}`,
    profile: makers[index % makers.length] ?? 'pixel',
    android: releases[index % releases.length] ?? 15,
    bootMs: 2000,
    installedPackages,
  });
  const cable = await Cable.to(`http://${phone.host}:${phone.port}`);
  return { phone, cable, address: new URL(cable.url).host, isBehindAdb: index % 2 === 1 };
}
