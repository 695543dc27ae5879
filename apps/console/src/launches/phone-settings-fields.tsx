import {
  phoneSettingHints,
  type PhoneSettings,
  type PhoneSettingTexts,
  readPhoneSettings,
} from '@phalanx/protocol';

import { TextField } from '../parts/field.tsx';
import styles from './launch-dialog.module.css';

const labels = {
  http_proxy: 'HTTP proxy',
  time_zone: 'Time zone',
  locale: 'Languages of apps',
  location: 'Location',
  brightness: 'Brightness',
} as const satisfies Record<keyof PhoneSettings, string>;
const names = ['http_proxy', 'time_zone', 'locale', 'location', 'brightness'] as const;

interface PhoneSettingsFieldsProps {
  texts: PhoneSettingTexts;
  onChange: (texts: PhoneSettingTexts) => void;
}

/** What is set on the phones before the code starts. */
export function PhoneSettingsFields({ texts, onChange }: PhoneSettingsFieldsProps) {
  const { wrong } = readPhoneSettings(texts);
  return (
    <details className={styles['settings']}>
      <summary>Phone settings</summary>
      <p>They are put back when the run has ended.</p>
      {names.map((name) => (
        <TextField
          key={name}
          label={labels[name]}
          hint={phoneSettingHints[name]}
          value={texts[name] ?? ''}
          problem={wrong.includes(name) ? `This has to be ${phoneSettingHints[name]}.` : undefined}
          onChange={(text) => onChange({ ...texts, [name]: text })}
        />
      ))}
    </details>
  );
}
