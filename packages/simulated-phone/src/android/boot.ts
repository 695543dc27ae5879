import { randomUUID } from 'node:crypto';

/** A phone that was on for a while before anybody looked. */
const olderMs = 3_600_000;

/** One life of Android between two restarts. */
export class Boot {
  /** `/proc/sys/kernel/random/boot_id`: new at each restart of the kernel. Only containers on one kernel share it. */
  readonly id: string;
  /** `starting`: adbd is there already, Android's services are not. */
  phase: 'off' | 'starting' | 'up';
  /** False from a restart until the first PIN: apps that are not made for it can't be started before. */
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
