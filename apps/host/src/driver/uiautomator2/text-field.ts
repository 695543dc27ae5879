import { DriverError } from '../driver-error.ts';
import type { HelperSession } from './helper-session.ts';

// The key under which WebDriver hands out elements (W3C WebDriver, section 12.1).
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** Puts the text after what the focused field holds; the field's own editor takes it, so any Unicode is fine. */
export async function typeIntoFocusedField(
  session: HelperSession,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const id = await getFocusedField(session, signal);
  for (const part of withoutEnterMark(text))
    await session.post(`element/${id}/value`, { text: part, replace: false }, signal);
}

export async function clearFocusedField(session: HelperSession, signal: AbortSignal): Promise<void> {
  const id = await getFocusedField(session, signal);
  await session.post(`element/${id}/clear`, {}, signal);
}

async function getFocusedField(session: HelperSession, signal: AbortSignal): Promise<string> {
  const value = await session.get('element/active', signal);
  const id: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, elementKey) : undefined;
  if (typeof id === 'string' && id !== '') return encodeURIComponent(id);
  throw new DriverError('no_focused_field', 'No text field has the focus. Tap one first.');
}

/** The helper takes a backslash and an n at the end of a text for ENTER and drops both: such an end goes in two parts. */
function withoutEnterMark(text: string): string[] {
  return text.endsWith(String.raw`\n`) ? [text.slice(0, -1), 'n'] : [text];
}
