import { DriverError } from '../driver-error.ts';
import type { PasswordMemory } from '../typed-password.ts';
import type { FieldLook } from '../ui-backend.ts';
import type { HelperSession } from './helper-session.ts';

// Key under which WebDriver returns elements (W3C WebDriver, section 12.1).
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** Types into the field of one phone that has the focus. */
export interface FieldTyper {
  /** Appends the text to what the field holds. The field's own editor takes it, so any Unicode works. */
  type(text: string, memory: PasswordMemory, signal: AbortSignal): Promise<FieldLook>;
  clear(signal: AbortSignal): Promise<void>;
  read(signal: AbortSignal): Promise<FieldLook>;
}

interface FocusedField extends FieldLook {
  readonly elementId: string;
  /** App and ID of the node. */
  readonly id: string;
}

export function createFieldTyper(session: HelperSession): FieldTyper {
  const put = async (elementId: string, text: string, replace: boolean, signal: AbortSignal): Promise<void> =>
    void (await session.post(`element/${elementId}/value`, { text, replace }, signal));
  return {
    async type(text, memory, signal) {
      const field = await getFocusedField(session, signal);
      if (!field.isPassword) {
        for (const part of withoutEnterMark(text)) await put(field.elementId, part, false, signal);
        return field;
      }
      // The helper would append to the dots.
      const whole = memory.textIn(field) + text;
      await put(field.elementId, withoutEnd(whole), true, signal);
      memory.remember(field, whole);
      return field;
    },
    async clear(signal) {
      const { elementId } = await getFocusedField(session, signal);
      await session.post(`element/${elementId}/clear`, {}, signal);
    },
    read: (signal) => getFocusedField(session, signal),
  };
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
      elementId: encodeURIComponent(id),
      id: JSON.stringify([field.get('attribute/package'), field.get('attribute/resource-id')]),
      isPassword: String(field.get('attribute/password')) === 'true',
      shown: typeof text === 'string' && String(field.get('attribute/showing-hint')) !== 'true' ? text : '',
    };
  throw new DriverError('no_focused_field', 'No text field has the focus. Tap one first.');
}

/** Splits a text that ends with a backslash and an n, because the helper takes these for ENTER and drops both. */
function withoutEnterMark(text: string): string[] {
  return text.endsWith(String.raw`\n`) ? [text.slice(0, -1), 'n'] : [text];
}
