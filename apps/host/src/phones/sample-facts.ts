import type { PhoneFacts } from '@phalanx/protocol';
import type { PhoneShell } from '../driver/phone-shell.ts';
import { askPhone } from './ask-phone.ts';

// One trip and six short processes.
const question = [
  'cat /proc/uptime',
  'dumpsys battery',
  'dumpsys power | grep mWakefulness=',
  'dumpsys window policy | grep showing=',
  'df /data',
  'ip -f inet addr show wlan0 2>/dev/null',
].join('; ');

/** Asks a phone how it is. What it does not tell is null. */
export async function sampleFacts(shell: PhoneShell, now: () => number): Promise<PhoneFacts> {
  const { stdout } = await askPhone(shell, (signal) => shell.run(question, signal));
  const find = (form: RegExp): string | undefined => form.exec(stdout)?.[1];
  const number = (form: RegExp, unit = 1): number | null => {
    const text = find(form);
    return text === undefined ? null : Number(text) * unit;
  };
  const isAwake = find(/mWakefulness=(\w+)/) === 'Awake';
  const isLocked = find(/showing=(true|false)/) === 'true';
  return {
    sampled_at: now(),
    battery_percent: number(/^\s*level: (\d{1,3})\s*$/m),
    temperature_celsius: number(/^\s*temperature: (-?\d{1,4})\s*$/m, 0.1),
    charging: /(?:AC|USB|Wireless|Dock) powered: /.test(stdout)
      ? /(?:AC|USB|Wireless|Dock) powered: true/.test(stdout)
      : null,
    free_bytes: number(/^\S+\s+\d+\s+\d+\s+(\d+)\s+\d+%\s+\/data/m, 1024),
    screen: isAwake ? (isLocked ? 'locked' : 'on') : 'off',
    wifi_address: find(/inet (\d[\d.]+)\//) ?? null,
    uptime_seconds: number(/^(\d+(?:\.\d+)?) \d/m),
  };
}
