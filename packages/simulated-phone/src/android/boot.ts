import { randomUUID } from 'node:crypto';

/** Initial uptime in ms of a phone that has been on for a while. */
const olderMs = 3_600_000;

/** Lifetime of Android between two restarts. */
export class Boot {
  /**
   * `/proc/sys/kernel/random/boot_id`, which changes with each start of the kernel. Only containers on the same
   * kernel share it.
   */
  readonly id: string;
  /** Phase of the start. `starting`: adbd is running, Android's services are not. */
  phase: 'off' | 'starting' | 'up';
  /** Whether the first PIN after a restart was entered: most apps can't be started before. */
  isUserUnlocked: boolean;
  readonly #startedAt: number;

  constructor(
    kind: 'found running' | 'restarted',
    { isUserUnlocked, kernelBootId }: { isUserUnlocked: boolean; kernelBootId: string | undefined },
  ) {
    this.id = kernelBootId ?? randomUUID();
    this.phase = kind === 'restarted' ? 'off' : 'up';
    this.isUserUnlocked = isUserUnlocked;
    this.#startedAt = performance.now() - (kind === 'restarted' ? 0 : olderMs);
  }

  get uptimeSeconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }
}
