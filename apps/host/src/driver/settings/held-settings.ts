import type { PhoneSettings } from '@phalanx/protocol';
import type { Driver } from '../driver.ts';
import { type ChangedSettings, placesOf } from './setting-ways.ts';

/** Interval in ms between locations. An app that begins to query its location gets an answer within that time. */
const tellLocationMs = 3000;

/** Settings of one run. */
export interface RunSettings {
  /** Claims settings before they are set: they are restored with the run, however far it came. */
  claim(settings: ChangedSettings): void;
  /** Restores what no other run wants. Resolves when that is done, or has to wait for the phone. Never rejects. */
  letGo(): Promise<void>;
}

interface Claim {
  readonly places: Set<string>;
  location: PhoneSettings['location'];
}

/** Settings that runs have made on one phone. Unclaimed ones are restored as soon as the phone is there. */
export class HeldSettings {
  readonly #claims = new Set<Claim>();
  #driver: Driver | undefined;
  #timer: NodeJS.Timeout | undefined;

  hold(): RunSettings {
    const claim: Claim = { places: new Set(), location: undefined };
    this.#claims.add(claim);
    return {
      claim: (settings) => {
        for (const place of placesOf(settings)) claim.places.add(place);
        if (settings.location === undefined) return;
        claim.location = settings.location;
        this.#tellLocation();
      },
      letGo: async () => {
        this.#claims.delete(claim);
        this.#tellLocation();
        if (claim.places.size > 0) await this.#putBack();
      },
    };
  }

  /** Replaces the driver and restores unclaimed settings: runs may have ended while the phone or the host was away. */
  setDriver(driver: Driver | undefined): void {
    this.#driver = driver;
    void this.#putBack();
    this.#tellLocation();
  }

  async #putBack(): Promise<void> {
    await this.#driver?.putSettingsBack(
      (place) => ![...this.#claims].some(({ places }) => places.has(place)),
    );
  }

  #tellLocation(): void {
    clearInterval(this.#timer);
    const location = [...this.#claims].findLast((claim) => claim.location !== undefined)?.location;
    const driver = this.#driver;
    if (location === undefined || driver === undefined) return;
    this.#timer = setInterval(() => void driver.tellLocation(location), tellLocationMs);
    this.#timer.unref();
  }
}
