import type { UiNode } from '@phalanx/protocol';

import { lookUntil } from '../../time/look-until.ts';
import { DriverError } from '../driver-error.ts';
import { deleteByKeys, isTypableByKeys, typeByKeys } from '../fallback/input-text.ts';
import { findNode } from '../find-node.ts';
import type { MaskedScreen } from '../masks/masked-screen.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { fieldText, isTextField } from '../tree/text-fields.ts';
import type { PasswordMemory } from '../typed-password.ts';
import type { FieldLook, UiBackend } from '../ui-backend.ts';
import { isKept, isKeptInBoxes, restForBoxes } from './kept-text.ts';

interface TypingParts {
  readonly shell: PhoneShell;
  readonly backend: Pick<UiBackend, 'source' | 'typeText' | 'clearText' | 'readField' | 'readSource'>;
  readonly screen: Pick<MaskedScreen, 'read'>;
  readonly passwords: PasswordMemory;
}

/** Time in ms that an app may take to format what is typed. */
const keptWithinMs = 600;
const lookMs = 100;
/** Maximum length of a text that is typed again by key events, each of which takes some milliseconds. */
const maxAgainCharacters = 500;

/**
 * Types into the field with the focus, and checks that the field holds the text. Accessibility puts a whole text in at
 * once, which boxes of one digit and some fields with input masks do not accept: those get the keys one by one. Throws
 * `text_not_kept` when that does not help either. When no field has the focus afterwards, its app has taken the text.
 */
export async function typeText(parts: TypingParts, text: string, signal: AbortSignal): Promise<void> {
  const before = await parts.backend.typeText(text, parts.passwords, signal);
  // Does not check such a text: with key events, Enter and Tab trigger actions of the app.
  if (before === undefined && /[\n\r\t]/.test(text)) return;
  const after = await readKept(parts, { text, before }, signal);
  if (after === undefined || isKept(text, after, before)) return;
  const boxes = await readBoxes(parts, signal);
  if (boxes.length > 1) {
    if (isKeptInBoxes(text, boxes)) return;
    const rest = restForBoxes(text, boxes);
    if (before !== undefined && isTypableByKeys(rest)) await typeByKeys(parts.shell, rest, signal);
    const filled = await readBoxes(parts, signal);
    if (filled.length < 2 || isKeptInBoxes(text, filled)) return;
  } else if (before !== undefined && canTypeAgain(before, text)) {
    // Clears the field first, because a field that does not report its content would otherwise hold the text twice.
    await clearText(parts, signal);
    await typeByKeys(parts.shell, before.shown + text, signal);
    const again = await readKept(parts, { text, before }, signal);
    if (again === undefined || isKept(text, again, before)) return;
  }
  throw await notKept(parts, signal);
}

/**
 * Empties the field with the focus, by key events when its app does not allow it at once. Throws `text_not_kept` when
 * the field still shows all that it showed. A part that stays, such as the country of a phone number, belongs to the
 * app.
 */
export async function clearText({ shell, backend }: TypingParts, signal: AbortSignal): Promise<void> {
  if (backend.source === 'dump') return await backend.clearText(signal);
  const before = await lookAtField({ backend }, signal);
  await backend.clearText(signal);
  const left = await lookAtField({ backend }, signal);
  if (left === undefined || left.shown === '') return;
  await deleteByKeys(shell, [...left.shown].length, signal);
  const isGone = (seen: FieldLook | undefined): boolean => seen?.shown !== before?.shown;
  const until = performance.now() + keptWithinMs;
  const look = (): Promise<FieldLook | undefined> => lookAtField({ backend }, signal);
  const after = await lookUntil(look, { fits: isGone, until, pauseMs: lookMs, signal });
  if (isGone(after)) return;
  throw new DriverError('text_not_kept', 'The field keeps its text: it was not emptied, also by key events.');
}

/** Whether the text can be typed again. The earlier text of a password field can't, because it is unreadable. */
function canTypeAgain(before: FieldLook, text: string): boolean {
  const whole = before.shown + text;
  return (
    !(before.isPassword && before.shown !== '') &&
    isTypableByKeys(whole) &&
    whole.length <= maxAgainCharacters
  );
}

/**
 * Reads the field with the focus, at once when it shows the text, otherwise after a moment. Undefined when no text
 * field has the focus.
 */
function readKept(
  parts: TypingParts,
  { text, before }: { text: string; before: FieldLook | undefined },
  signal: AbortSignal,
): Promise<FieldLook | undefined> {
  const fits = (seen: FieldLook | undefined): boolean => seen === undefined || isKept(text, seen, before);
  const until = performance.now() + keptWithinMs;
  return lookUntil(() => lookAtField(parts, signal), { fits, until, pauseMs: lookMs, signal });
}

async function lookAtField(
  { backend }: { readonly backend: Pick<UiBackend, 'readField'> },
  signal: AbortSignal,
): Promise<FieldLook | undefined> {
  try {
    return await backend.readField(signal);
  } catch (error) {
    // The page has changed, or is moving.
    const codes = ['no_focused_field', 'screen_not_readable'];
    if (error instanceof DriverError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

/** Reads the fields in line with the focused one when each has at most one character, as for a code; otherwise none. */
async function readBoxes({ backend }: TypingParts, signal: AbortSignal): Promise<FieldLook[]> {
  const { root } = (await backend.readSource(signal)).tree();
  const focused = findNode(root, (node) => node.focused && isTextField(node));
  if (focused === undefined) return [];
  const boxes = textFieldsBelow(root).filter((node) => isInLine(node, focused));
  if (boxes.length < 2 || boxes.some((node) => [...fieldText(node)].length > 1)) return [];
  return boxes
    .toSorted((one, other) => one.boundsInScreen.left - other.boundsInScreen.left)
    .map((node) => ({ isPassword: node.password, shown: fieldText(node) }));
}

function textFieldsBelow(root: UiNode): UiNode[] {
  return [...(isTextField(root) ? [root] : []), ...root.children.flatMap(textFieldsBelow)];
}

const isInLine = ({ boundsInScreen: one }: UiNode, { boundsInScreen: other }: UiNode): boolean =>
  one.top === other.top && one.bottom === other.bottom;

/** Returns an error with what the field shows as the caller may see it: with masks. */
async function notKept({ screen }: TypingParts, signal: AbortSignal): Promise<DriverError> {
  const { tree } = await screen.read(signal);
  const field = findNode(tree.root, (node) => node.focused && isTextField(node));
  const why = 'its app limits or changes what is typed';
  if (field === undefined || field.password)
    return new DriverError('text_not_kept', `The field does not hold the text that was typed: ${why}.`);
  const shown = fieldText(field);
  const [part, end] = shown.length > 100 ? [shown.slice(0, 100), '…'] : [shown, ''];
  return new DriverError(
    'text_not_kept',
    `The field does not hold the text that was typed, also by key events: ${why}. It shows ${JSON.stringify(part)}${end}.`,
  );
}
