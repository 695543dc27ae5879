import { readFile } from 'node:fs/promises';
import { findSchemaProblem, PhoneSettings } from '@phalanx/protocol';
import { SettingError } from '@phalanx/settings';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const everyPhone = '*';
const shape = Compile(Type.Record(Type.String(), PhoneSettings));

/** Settings that the operator wants on phones in every run. Settings of the run itself take precedence. */
export class DefaultSettings {
  readonly #settings: Readonly<Record<string, PhoneSettings>>;

  /** Takes settings by serial number. `*` is for all phones; a phone's own settings take precedence. */
  constructor(settings: Readonly<Record<string, PhoneSettings>> = {}) {
    this.#settings = settings;
  }

  complete(serial: string, wanted: PhoneSettings = {}): PhoneSettings {
    const own = Object.hasOwn(this.#settings, serial) ? this.#settings[serial] : undefined;
    const locale = { ...this.#settings[everyPhone]?.locale, ...own?.locale, ...wanted.locale };
    return {
      ...this.#settings[everyPhone],
      ...own,
      ...wanted,
      ...(Object.keys(locale).length > 0 && { locale }),
    };
  }
}

/** Reads a JSON file with the settings of each phone by its serial number, or of all phones by `*`. */
export async function loadDefaultSettings(file: string): Promise<DefaultSettings> {
  const refuse = (what: string): SettingError =>
    new SettingError(`PHALANX_PHONE_SETTINGS_FILE: ${file} ${what}`);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(`can't be read (${error.code ?? 'unknown reason'}).`);
  });
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch {
    throw refuse('is no JSON.');
  }
  if (shape.Check(settings)) return new DefaultSettings(settings);
  const found = findSchemaProblem(shape.Type(), settings);
  throw refuse(
    `is not as a launch has phone_settings: ${found?.field || 'the file'} ${found?.problem ?? 'does not fit'}.`,
  );
}
