import { pressEnter } from '../android/input/system-keys.ts';
import { sourceAttributes } from '../screen/source-xml.ts';
import { type VisibleView, walk } from '../view/view.ts';
import { bodies, elementKey, oldElementKey, parseBody } from './bodies.ts';
import { type Command, getElement, getTree, type Handler, requireUiAutomation } from './command.ts';
import { WebDriverError } from './web-driver-error.ts';

/** Returns the element with the attributes that the settings request (BaseElement.java). */
function elementBody({ session }: Command, visible: VisibleView): Record<string, unknown> {
  const id = session.remember(visible.view);
  const body: Record<string, unknown> = { [elementKey]: id, [oldElementKey]: id };
  if (session.settings.get('shouldUseCompactResponses') !== false) return body;
  const wanted = session.settings.get('elementResponseAttributes');
  const attributes = sourceAttributes(visible, 0);
  for (const name of typeof wanted === 'string' ? wanted.split(',') : [])
    body[name] = attributes[name.replace('attribute/', '')];
  return body;
}

const notFound = () =>
  new WebDriverError(
    'no such element',
    'An element could not be located on the page using the given search parameters',
  );

export const activeElement: Handler = async (command) => {
  const focused = walk(await getTree(command)).find(({ view }) => view.focused === true);
  if (!focused) throw notFound();
  return elementBody(command, focused);
};

function setText({ phone }: Command, { view }: VisibleView, text: string): void {
  requireUiAutomation(phone);
  if (!view.field) {
    const message = `Cannot set the element to '${text}'. Did you interact with the correct element?`;
    throw new WebDriverError('invalid element state', message);
  }
  view.field.setText(text);
  phone.android.inputs.add({ kind: 'text', text });
  phone.android.redraw();
}

/**
 * Types text. A trailing `
 * `, written as two characters, presses Enter afterwards.
 */
export const sendKeys: Handler = (command) => {
  const target = getElement(command);
  const { text, replace } = parseBody(bodies.sendKeys, command.body);
  const pressesEnter = text.endsWith('\\n');
  const typed = pressesEnter ? text.slice(0, -2) : text;
  // Text as accessibility reports it: only dots for a password.
  const before = replace === true ? '' : (target.view.field?.shownText ?? '');
  setText(command, target, before + typed);
  if (pressesEnter) pressEnter(command.phone.android);
};

export const clearElement: Handler = (command) => setText(command, getElement(command), '');
