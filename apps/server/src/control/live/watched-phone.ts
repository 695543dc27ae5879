import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import type { LivePicture } from './live-viewer.ts';
import { parsePicture } from './host-answer.ts';

/** Interval of two pictures per second, enough to see that something happens. */
const betweenPicturesMs = 500;
const afterNothingMs = 3000;
/**
 * Age of the last answer in ms after which a picture is no longer shown: no viewer had room for a newer one in that
 * time.
 */
const staleMs = 6000;

/** The last picture of a phone. */
export class WatchedPhone {
  picture: LivePicture | undefined;
  /** Reason why there is no picture. */
  reason: string | undefined;
  readonly #hosts: Pick<ConnectedHosts, 'ask'>;
  #isAsking = false;
  #nextAt = 0;
  #answeredAt = 0;

  constructor(hosts: Pick<ConnectedHosts, 'ask'>) {
    this.#hosts = hosts;
  }

  /** Asks for the next picture, unless a question is already in flight. */
  ask(device: FleetDevice): void {
    const now = performance.now();
    if (this.#isAsking || now < this.#nextAt) return;
    this.#isAsking = true;
    this.#nextAt = now + betweenPicturesMs;
    if (now - this.#answeredAt > staleMs) this.picture = undefined;
    this.#askHost(device)
      .catch((error: unknown) => {
        this.picture = undefined;
        this.reason = error instanceof Error ? error.message : 'no reason given';
        this.#nextAt = performance.now() + afterNothingMs;
      })
      .finally(() => {
        this.#isAsking = false;
        this.#answeredAt = performance.now();
      });
  }

  async #askHost({ serial, epoch, reason }: FleetDevice): Promise<void> {
    if (epoch === null) throw new Error(reason);
    const known = this.picture;
    const question = { type: 'wall', serial, known: known?.hash ?? null } as const;
    const { frame, jpeg } = parsePicture(await this.#hosts.ask(epoch, question));
    if (jpeg.length > 0) this.picture = { ...frame, jpeg };
    else if (frame.hash !== known?.hash) throw new Error('its host answered with no picture');
  }
}
