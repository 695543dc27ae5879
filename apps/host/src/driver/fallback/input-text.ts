import { DriverError } from '../driver-error.ts';
import { type PhoneShell, shellQuote } from '../shell/phone-shell.ts';

const keyEnter = 66;
const keyTab = 61;
const keyMoveEnd = 123;
const keyDelete = 67;

// One `input` process accepts many keys. A longer line would exceed the limit of an ADB service name on old phones.
const keysPerCommand = 60;

/** Runs Android's `input`. Each call starts a process on the phone, which takes some 100 to 300 ms. */
export async function runInput(shell: PhoneShell, commandLine: string, signal: AbortSignal): Promise<void> {
  const { stdout, stderr, exitCode } = await shell.run(commandLine, signal);
  const said = `${stderr} ${stdout}`.replace(/\s+/g, ' ').trim();
  if ((exitCode ?? 0) === 0 && !/Exception|^Error/.test(said)) return;
  if (/INJECT_EVENTS/.test(said)) {
    throw new DriverError('input_refused', 'The phone refuses simulated input (INJECT_EVENTS).');
  }
  throw new DriverError(
    'input_refused',
    `The phone refused "${commandLine.slice(0, 60)}": ${said.slice(0, 200) || `exit code ${exitCode}`}.`,
  );
}

/** Whether key events can type a text, without keys such as Enter, on which apps act as they like. */
export const isTypableByKeys = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Types into the field with the focus by Android's own key events. */
export async function typeByKeys(shell: PhoneShell, text: string, signal: AbortSignal): Promise<void> {
  for (const command of inputTextCommands(text)) await runInput(shell, command, signal);
}

/** Deletes the last characters of the field with the focus, key by key. */
export async function deleteByKeys(
  shell: PhoneShell,
  characters: number,
  signal: AbortSignal,
): Promise<void> {
  if (characters === 0) return;
  await runInput(shell, `input keyevent ${keyMoveEnd}`, signal);
  for (let left = characters; left > 0; left -= keysPerCommand) {
    const count = Math.min(left, keysPerCommand);
    await runInput(shell, `input keyevent ${Array(count).fill(keyDelete).join(' ')}`, signal);
  }
}

/**
 * Returns the command lines that type a text with `input text`. The command knows only the keys of a US keyboard, turns
 * `%s` into a space and can't type a literal `%s`, so such a text is split between the two characters.
 */
export function inputTextCommands(text: string): string[] {
  const unknown = /[^\x20-\x7e\n\r\t]/u.exec(text)?.[0];
  if (unknown !== undefined) {
    throw new DriverError(
      'text_not_typable',
      `"${unknown}" can't be typed: without the UI helper the phone takes only ASCII text. See the phone's state for why the helper is not there.`,
    );
  }
  const parts = text
    .replaceAll('\r\n', '\n')
    .split(/([\n\r\t])|(?<=%)(?=s)/)
    .filter((part) => part !== undefined && part !== '');
  return parts.map(commandFor);
}

function commandFor(part: string): string {
  if (part === '\n' || part === '\r') return `input keyevent ${keyEnter}`;
  if (part === '\t') return `input keyevent ${keyTab}`;
  return `input text ${shellQuote(part.replaceAll(' ', '%s'))}`;
}
