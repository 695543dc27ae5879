import type { RecordedApp, RunApp } from '@phalanx/protocol';

import type { PhoneCamera } from './phone-camera.ts';

/** A run that reads the screens of more apps tells of one of these. */
const maxApps = 50;

/** The apps of one run. The version of each is asked for once: it changes when an app is installed, and hardly while it is used. */
export class RunApps {
  readonly #camera: Pick<PhoneCamera, 'readApp'>;
  readonly #limitMs: number;
  /** How often screens of each were read. */
  readonly #readings = new Map<string, number>();
  readonly #versions = new Map<string, string | null>();

  constructor(camera: Pick<PhoneCamera, 'readApp'>, limitMs: number) {
    this.#camera = camera;
    this.#limitMs = limitMs;
  }

  read(packageName: string): void {
    const count = this.#readings.get(packageName) ?? 0;
    if (count > 0 || this.#readings.size < maxApps) this.#readings.set(packageName, count + 1);
  }

  /** What the phone says of an app; its name alone when it does not answer in time. */
  async of(packageName: string): Promise<RecordedApp> {
    const signal = AbortSignal.timeout(this.#limitMs);
    const nothing = { package: packageName.slice(0, 255), activity: null, version: null, language: null };
    const app = await this.#camera.readApp(packageName, signal).catch(() => nothing);
    if (app !== nothing) this.#versions.set(packageName, app.version);
    return app;
  }

  /** The app whose screens were read most, with its version; undefined when there is none. */
  async main(): Promise<RunApp | undefined> {
    const [most] = [...this.#readings].toSorted(([, one], [, other]) => other - one);
    if (most === undefined) return undefined;
    const [name] = most;
    const version = this.#versions.has(name) ? this.#versions.get(name) : (await this.of(name)).version;
    return version === null || version === undefined ? undefined : { package: name, version };
  }
}
