import { DriverError } from '../driver-error.ts';
import type { HelperSession } from './helper-session.ts';

// The key under which WebDriver hands out elements (W3C WebDriver, section 12.1).
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** Types into whatever field of one phone has the focus. */
export interface FieldTyper {
  /** Puts the text after what the field holds; the field's own editor takes it, so any Unicode is fine. */
  type(text: string, signal: AbortSignal): Promise<void>;
  clear(signal: AbortSignal): Promise<void>;
}

interface FocusedField {
  readonly id: string;
  readonly isPassword: boolean;
  /** Dots in a password field; empty where only the hint is shown. */
  readonly shown: string;
}

export function createFieldTyper(session: HelperSession): FieldTyper {
  /** What was typed last into a password field: its own text is known to nobody. */
  let password = '';
  const typePassword = async (
    { id, shown }: FocusedField,
    text: string,
    signal: AbortSignal,
  ): Promise<void> => {
    // The helper would append to the dots.
    const whole = passwordBefore(shown, password) + text;
    await session.post(`element/${id}/value`, { text: withoutEnd(whole), replace: true }, signal);
    password = whole;
  };
  return {
    async type(text, signal) {
      const field = await getFocusedField(session, signal);
      if (field.isPassword) return await typePassword(field, text, signal);
      for (const part of withoutEnterMark(text))
        await session.post(`element/${field.id}/value`, { text: part, replace: false }, signal);
    },
    async clear(signal) {
      const { id } = await getFocusedField(session, signal);
      await session.post(`element/${id}/clear`, {}, signal);
    },
  };
}

/** What a password field holds, of which only dots are shown, when it was `typed` last. */
export function passwordBefore(shown: string, typed: string): string {
  if (shown === '') return '';
  if ([...shown].length === [...typed].length) return typed;
  throw new DriverError(
    'text_not_typable',
    'The password field already holds a text that was not typed by this driver, and nobody can read it. Clear the field first.',
  );
}

function withoutEnd(text: string): string {
  if (!text.endsWith(String.raw`\n`)) return text;
  throw new DriverError('text_not_typable', String.raw`A password that ends with "\n" can't be typed.`);
}

async function getFocusedField(session: HelperSession, signal: AbortSignal): Promise<FocusedField> {
  const value = await session.get('element/active', signal);
  const field: ReadonlyMap<string, unknown> = new Map(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  const id = field.get(elementKey);
  const text = field.get('text');
  if (typeof id === 'string' && id !== '')
    return {
      id: encodeURIComponent(id),
      isPassword: String(field.get('attribute/password')) === 'true',
      shown: typeof text === 'string' && String(field.get('attribute/showing-hint')) !== 'true' ? text : '',
    };
  throw new DriverError('no_focused_field', 'No text field has the focus. Tap one first.');
}

/** The helper takes a backslash and an n at the end of a text for ENTER and drops both: such an end goes in two parts. */
function withoutEnterMark(text: string): string[] {
  return text.endsWith(String.raw`\n`) ? [text.slice(0, -1), 'n'] : [text];
}
