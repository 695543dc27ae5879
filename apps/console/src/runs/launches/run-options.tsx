import {
  type PhoneSettings,
  phoneSettingHints,
  type PhoneSettingTexts,
  readPhoneSettings,
  textsOfPhoneSettings,
} from '@phalanx/protocol';

import { TextField } from '../../parts/field.tsx';
import styles from './run-options.module.css';

/** Options of launches, jobs and schedules besides code and phones, as entered. */
export interface RunOptions {
  readonly hasFilm: boolean;
  readonly phone: PhoneSettingTexts;
}

export const optionsOf = (settings?: PhoneSettings): RunOptions => ({
  hasFilm: false,
  phone: textsOfPhoneSettings(settings),
});

/** Returns why the options can't be sent yet. */
export const optionsProblem = ({ phone }: RunOptions): string | undefined =>
  readPhoneSettings(phone).wrong.length > 0 ? 'A phone setting is not valid.' : undefined;

export function optionsBody({ hasFilm, phone }: RunOptions): {
  film?: boolean;
  phone_settings?: PhoneSettings;
} {
  const { settings } = readPhoneSettings(phone);
  return { ...(hasFilm && { film: true }), ...(settings !== undefined && { phone_settings: settings }) };
}

const labels = {
  http_proxy: 'HTTP proxy',
  time_zone: 'Time zone of the phone',
  locale: 'Languages of apps',
  location: 'Location',
  brightness: 'Brightness',
  heads_up: 'Notifications over the screen',
} as const satisfies Record<keyof PhoneSettings, string>;
const names = ['http_proxy', 'time_zone', 'locale', 'location', 'brightness', 'heads_up'] as const;

interface RunOptionsFieldsProps {
  value: RunOptions;
  onChange: (value: RunOptions) => void;
}

export const RunOptionsFields = ({ value, onChange }: RunOptionsFieldsProps) => (
  <>
    <label className={styles['film']}>
      <input
        type="checkbox"
        checked={value.hasFilm}
        onChange={({ target }) => onChange({ ...value, hasFilm: target.checked })}
      />
      Record video
    </label>
    <PhoneSettingsFields texts={value.phone} onChange={(phone) => onChange({ ...value, phone })} />
  </>
);

interface PhoneSettingsFieldsProps {
  texts: PhoneSettingTexts;
  onChange: (texts: PhoneSettingTexts) => void;
}

/** Fields for phone settings that are applied before the code starts. */
function PhoneSettingsFields({ texts, onChange }: PhoneSettingsFieldsProps) {
  const { wrong } = readPhoneSettings(texts);
  return (
    <details className={styles['settings']}>
      <summary>Phone settings</summary>
      <p>They are restored when the run ends.</p>
      {names.map((name) => (
        <TextField
          key={name}
          label={labels[name]}
          hint={phoneSettingHints[name]}
          value={texts[name] ?? ''}
          problem={wrong.includes(name) ? `This must be ${phoneSettingHints[name]}.` : undefined}
          onChange={(text) => onChange({ ...texts, [name]: text })}
        />
      ))}
    </details>
  );
}
