import type { PhoneShell } from './shell/phone-shell.ts';

const scales = ['window_animation_scale', 'transition_animation_scale', 'animator_duration_scale'];
/** Where the phone itself keeps what the scales were: it is read also by a host that was started anew. */
const keptName = 'phalanx_animation_scales';
const scaleForm = /^(?:null|\d{1,3}(?:\.\d{1,4})?)$/;

export async function turnAnimationsOff(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  const [kept, ...values] = await readSettings(shell, [keptName, ...scales], signal);
  const keep = kept === 'null' ? [`settings put global ${keptName} ${values.map(scaleOf).join(',')}`] : [];
  const turnOff = scales.map((name) => `settings put global ${name} 0`);
  await shell.run([...keep, ...turnOff].join('; '), signal);
}

/** Puts the scales back; nothing where they are as they were. */
export async function restoreAnimations(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  const [kept = 'null'] = await readSettings(shell, [keptName], signal);
  if (kept === 'null') return;
  const values = kept.split(',');
  const restore = scales.map((name, index) => {
    const value = scaleOf(values[index]);
    return value === 'null' ? `settings delete global ${name}` : `settings put global ${name} ${value}`;
  });
  await shell.run([...restore, `settings delete global ${keptName}`].join('; '), signal);
}

async function readSettings(
  shell: PhoneShell,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const { stdout } = await shell.run(names.map((name) => `settings get global ${name}`).join('; '), signal);
  return stdout.split(/\r?\n/);
}

/** What a phone says goes into a command line: anything but a number is as if nothing was set. */
function scaleOf(value: string | undefined): string {
  return value !== undefined && scaleForm.test(value) ? value : 'null';
}
