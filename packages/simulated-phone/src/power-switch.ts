import type { Boot } from './android/boot.ts';

/** Share of a restart after which adbd answers and Android's services are still on their way. */
const adbdShare = 0.4;

/** The electric power of a phone: what runs on it ends when it is cut. */
export class PowerSwitch {
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
