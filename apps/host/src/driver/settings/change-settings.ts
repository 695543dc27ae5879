import { Type } from 'typebox';

import { DriverError } from '../driver-error.ts';
import { askTogether } from '../shell/ask-together.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import {
  type ChangedSettings,
  earlierValue,
  entriesOf,
  errorIn,
  mockLocation,
  placesOf,
  putBackCommand,
  readCommand,
  type SettingName,
  settingWays,
  tellLocation,
  isPlace,
} from './setting-ways.ts';
import type { HostStore } from '../../store/host-store.ts';
import type { JsonTable } from '../../store/json-table.ts';

/** Values that the places of a phone held before they were changed. They survive a restart of the host. */
export interface EarlierValues {
  /** Values by place. */
  readonly values: ReadonlyMap<string, string>;
  /** Resolves when the values are on the disk. */
  save(values: ReadonlyMap<string, string>): Promise<void>;
}

interface ChangedPhone {
  readonly shell: PhoneShell;
  readonly sdkVersion: number;
  readonly androidVersion: string;
  readonly earlier: EarlierValues;
}

/**
 * Changes settings. Rejects with `setting_unsupported` before any change, and with `setting_refused` when the phone
 * does not accept one.
 */
export async function changeSettings(
  phone: ChangedPhone,
  settings: ChangedSettings,
  signal: AbortSignal,
): Promise<void> {
  const { shell } = phone;
  for (const [name] of entriesOf(settings)) requireRelease(phone, name);
  await keepEarlier(phone, placesOf(settings), signal);
  for (const [name, value] of entriesOf(settings)) {
    const { change, check, refusal } = settingWays[name];
    const asked = check === undefined ? change(value) : `${change(value)}; ${check(value)}`;
    const refused = refusal(value, await shell.run(asked, signal));
    if (refused === undefined) continue;
    throw new DriverError('setting_refused', `The phone did not take ${name}: ${refused}.`);
  }
}

function requireRelease({ sdkVersion, androidVersion }: ChangedPhone, name: SettingName): void {
  const [sdk, release] = settingWays[name].since ?? [0, ''];
  if (sdkVersion >= sdk) return;
  throw new DriverError(
    'setting_unsupported',
    `${name} can be set from Android ${release} on, and the phone has Android ${androidVersion}.`,
  );
}

/** Saves earlier values to the disk before the first change, so that the phone can be restored whatever happens. */
async function keepEarlier(
  { shell, earlier }: ChangedPhone,
  places: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const unknown = places.filter((place) => !earlier.values.has(place));
  if (unknown.length === 0) return;
  const said = await askTogether(shell, unknown.map(readCommand), signal);
  const read = unknown.map((place, index): [string, string] => {
    const value = earlierValue(place, said[index] ?? '');
    if (value !== undefined) return [place, value];
    const words = (said[index] ?? '').trim().slice(0, 200) || 'nothing';
    throw new DriverError('setting_refused', `The phone does not say what ${place} is now, but: ${words}.`);
  });
  await earlier.save(new Map([...earlier.values, ...read])).catch((error: unknown) => {
    const message = 'The host could not write down how the phone was, and changed nothing. Is its disk full?';
    throw new DriverError('setting_refused', message, error);
  });
}

/** Restores these places, as far as they were changed. Keeps what the phone does not accept for a later attempt. */
export async function putSettingsBack(
  { shell, earlier }: Pick<ChangedPhone, 'shell' | 'earlier'>,
  isMeant: (place: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const meant = [...earlier.values].filter(([place]) => isMeant(place));
  if (meant.length === 0) return;
  const changes = meant.map(([place, value]) => `(${putBackCommand(place, value)}) 2>&1`);
  const questions = [...changes, ...meant.map(([place]) => readCommand(place))];
  const said = await askTogether(shell, questions, signal);
  const isBack = meant.map(([place, value], index) => {
    const held = earlierValue(place, said[meant.length + index] ?? '');
    // Phones report some values in other words than they accept.
    return (
      held === value ||
      (held !== undefined && errorIn({ stdout: said[index] ?? '', stderr: '' }) === undefined)
    );
  });
  const back = new Set(meant.filter((_, index) => isBack[index]).map(([place]) => place));
  await earlier.save(new Map([...earlier.values].filter(([place]) => !back.has(place))));
}

/** Sends the mock location to the phone again, which loses it when it restarts. */
export async function tellLocationAgain(
  shell: PhoneShell,
  location: NonNullable<ChangedSettings['location']>,
  signal: AbortSignal,
): Promise<void> {
  if (errorIn(await shell.run(tellLocation(location), signal)) !== undefined)
    await shell.run(mockLocation(location), signal);
}

const shape = Type.Record(Type.String(), Type.String({ maxLength: 300 }));
type Values = ReadonlyMap<string, string>;

/** Stores the state of phones from before runs changed it, until it is restored. */
export class EarlierSettings {
  readonly #table: JsonTable<typeof shape>;
  readonly #values = new Map<string, Values>();

  constructor(store: HostStore) {
    this.#table = store.table('earlier_settings', shape);
  }

  /** Loads the values; call it before the first phone comes. */
  async load(): Promise<void> {
    for await (const [serial, values = {}] of this.#table.entries())
      this.#values.set(serial, new Map(Object.entries(values).filter(([place]) => isPlace(place))));
  }

  valuesOf(serial: string): EarlierValues {
    const valuesOf = (): Values => this.#values.get(serial) ?? new Map();
    return {
      get values() {
        return valuesOf();
      },
      save: async (values) => {
        await this.#write(serial, values);
        this.#values.set(serial, values);
      },
    };
  }

  async #write(serial: string, values: Values): Promise<void> {
    if (values.size === 0) await this.#table.remove(serial);
    else await this.#table.put(serial, Object.fromEntries(values), { isDurable: true });
  }
}
