import type { PhoneEvent, PhoneFacts, PhoneWarning } from '@phalanx/protocol';
import { isDeepStrictEqual } from 'node:util';
import type { Driver } from '../driver/driver.ts';
import { HeldMasks } from '../driver/masks/masked-screen.ts';
import type { ScreenVideo } from '../driver/video/screen-video.ts';
import { HeldSettings } from '../driver/settings/held-settings.ts';
import type { EarlierValues } from '../driver/settings/change-settings.ts';
import type { PhoneIdentity } from './identity/phone-identity.ts';
import type { PhoneHistory } from './health/phone-histories.ts';
import {
  type Phone,
  type PhoneDescription,
  type PhoneState,
  type PhoneStateName,
  PhoneUnavailable,
} from './phone.ts';
import { warningsOf } from './health/phone-health.ts';
import { HeldClipboard } from './held-clipboard.ts';
import { TypedSecrets } from '../driver/masks/typed-secrets.ts';
import { PhoneUses } from './phone-uses.ts';
import { ScreenHolder } from './screen-holder.ts';

const percentStep = 5;

/**
 * Rounds a battery level to steps of five percent. A level between two steps stays at the previous one, so that a
 * battery near a boundary is not reported again and again.
 */
function steppedPercent(percent: number | null, before: number | undefined): number | undefined {
  if (percent === null) return undefined;
  if (before !== undefined && Math.abs(percent - before) < percentStep) return before;
  return Math.round(percent / percentStep) * percentStep;
}

interface RecordParts {
  readonly onChange: (phone: Phone) => void;
  readonly now: () => number;
  readonly earlier: EarlierValues | undefined;
}

/** Current known state of a phone. Only its watcher writes it; everything else reads it as a `Phone`. */
export class PhoneRecord implements Phone {
  readonly serial: string;
  readonly isIdentified: boolean;
  readonly hasOwnNumber: boolean;
  identity: PhoneIdentity | undefined;
  isDoubted = false;
  readonly screen = new ScreenHolder();
  readonly masks = new HeldMasks();
  readonly typedSecrets = new TypedSecrets(this.masks);
  readonly #clipboard = new HeldClipboard();
  readonly uses = new PhoneUses(this.#clipboard);
  readonly settings = new HeldSettings();
  /** Settings from before the host's changes. Undefined while the serial number of the phone is not certain. */
  readonly earlier: EarlierValues | undefined;
  readonly history: PhoneHistory;
  /** Times at which the UI helper of the phone died, on a monotonic clock. */
  readonly helperDeaths: number[] = [];
  video: ScreenVideo | undefined;
  readonly #onChange: (phone: Phone) => void;
  readonly #now: () => number;
  #state: PhoneState;
  #description: PhoneDescription | undefined;
  #confirmedAt = 0;
  #driver: Driver | undefined;
  #readyReason = '';
  #note = '';
  #facts: PhoneFacts | null = null;
  #warnings: readonly PhoneWarning[] = [];
  #batteryPercent: number | undefined;

  constructor(
    identity: Pick<Phone, 'serial' | 'isIdentified' | 'hasOwnNumber'>,
    history: PhoneHistory,
    { onChange, now, earlier }: RecordParts,
  ) {
    this.serial = identity.serial;
    this.isIdentified = identity.isIdentified;
    this.hasOwnNumber = identity.hasOwnNumber;
    this.history = history;
    this.earlier = earlier;
    this.#onChange = onChange;
    this.#now = now;
    this.#state = { state: 'connecting', reason: 'The phone was just found.', since: now() };
  }

  get state(): PhoneState {
    return this.#state;
  }

  get description(): PhoneDescription | undefined {
    return this.#description;
  }

  get confirmedAt(): number {
    return this.#confirmedAt;
  }

  driver(): Driver {
    if (this.#state.state !== 'ready' || this.#driver === undefined)
      throw new PhoneUnavailable(this.serial, this.#state);
    return this.#driver;
  }

  get facts(): PhoneFacts | null {
    return this.#facts;
  }

  get warnings(): readonly PhoneWarning[] {
    return this.#warnings;
  }

  get batteryPercent(): number | undefined {
    return this.#batteryPercent;
  }

  setFacts(facts: PhoneFacts): void {
    this.#facts = facts;
    const before = { warnings: this.#warnings, batteryPercent: this.#batteryPercent };
    this.#warnings = warningsOf(facts, before.warnings);
    this.#batteryPercent = steppedPercent(facts.battery_percent, before.batteryPercent);
    const after = { warnings: this.#warnings, batteryPercent: this.#batteryPercent };
    if (!isDeepStrictEqual(before, after)) this.#onChange(this);
  }

  now(): number {
    return this.#now();
  }

  /**
   * Sets the explanation of the phone's name, which the reason for `ready` then includes. Empty when the name needs
   * none.
   */
  setNote(note: string): void {
    if (note === this.#note) return;
    this.#note = note;
    if (this.#state.state === 'ready') this.#change('ready', this.#noted(this.#readyReason));
  }

  #noted(reason: string): string {
    return this.#note === '' ? reason : `${reason} ${this.#note}`;
  }

  /** Puts the phone out of use, because it may be identical with another phone. */
  doubt(reason: string): void {
    this.isDoubted = true;
    this.setTrouble('unresponsive', reason);
  }

  /** Records a repair step of the host on the phone. */
  repair(step: NonNullable<PhoneEvent['step']>, reason: string): void {
    const { state } = this.#state;
    this.history.add({ at: this.#now(), kind: 'repair', state, step, reason: reason.slice(0, 2000) });
  }

  /** Puts the phone to rest according to the operator's rules. Current calls may finish. */
  rest(reason: string): void {
    if (!this.screen.isHeld && ['ready', 'resting'].includes(this.#state.state))
      this.#change('resting', reason);
  }

  endRest(): void {
    if (this.#state.state === 'resting') this.#change('ready', this.#noted(this.#readyReason));
  }

  setReady(driver: Driver, reason: string): void {
    this.#readyReason = reason;
    this.#driver = driver;
    this.settings.setDriver(driver);
    this.#clipboard.setDriver(driver);
    this.screen.setDriver(driver);
    this.confirm();
    this.#change('ready', this.#noted(reason));
  }

  setTrouble(state: Exclude<PhoneStateName, 'ready'>, reason: string): void {
    this.#driver = undefined;
    this.settings.setDriver(undefined);
    this.#clipboard.setDriver(undefined);
    this.screen.setDriver(undefined);
    this.#change(state, reason);
  }

  setDescription(description: PhoneDescription): void {
    const before = this.#description;
    this.#description = description;
    if (before !== undefined && !isDeepStrictEqual(before, description)) this.#onChange(this);
  }

  /** Records that the phone has just answered. */
  confirm(): void {
    this.#confirmedAt = this.#now();
  }

  #change(state: PhoneStateName, reason: string): void {
    const before = this.#state;
    if (before.state === state && before.reason === reason) return;
    this.#state = { state, reason, since: before.state === state ? before.since : this.#now() };
    this.history.add({ at: this.#now(), kind: 'state', state, step: null, reason: reason.slice(0, 2000) });
    this.#onChange(this);
  }
}
