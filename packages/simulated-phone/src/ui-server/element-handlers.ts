import sharp from 'sharp';
import { pressEnter } from '../android/input/system-keys.ts';
import { tap } from '../android/input/touch.ts';
import { sourceAttributes } from '../screen/source-xml.ts';
import { center, rectHeight, rectWidth } from '../view/rect.ts';
import { type VisibleView, walk } from '../view/view.ts';
import { bodies, elementKey, oldElementKey, parseBody } from './bodies.ts';
import {
  type Command,
  getElement,
  getTree,
  type Handler,
  requireInjection,
  requireUiAutomation,
} from './command.ts';
import { locateAll } from './locate.ts';
import { WebDriverError } from './web-driver-error.ts';

/** The element, with the attributes that the settings ask for (BaseElement.java). */
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

async function locate(command: Command): Promise<VisibleView[]> {
  const { strategy, selector, context } = parseBody(bodies.find, command.body);
  const root = context ? command.session.getElement(context) : await getTree(command);
  return locateAll(root, strategy, selector);
}

export const findElement: Handler = async (command) => {
  const [first] = await locate(command);
  if (!first) throw notFound();
  return elementBody(command, first);
};

export const findElements: Handler = async (command) => {
  const found = await locate(command);
  return found.map((one) => elementBody(command, one));
};

export const activeElement: Handler = async (command) => {
  const focused = walk(await getTree(command)).find(({ view }) => view.focused === true);
  if (!focused) throw notFound();
  return elementBody(command, focused);
};

export const clickElement: Handler = (command) => {
  requireInjection(command.phone, 'gesture');
  tap(command.phone.android, center(getElement(command).bounds));
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

/** A trailing `\n`, written as two characters, presses Enter after the text was set. */
function sendKeys(command: Command, target: VisibleView): void {
  const { text, replace } = parseBody(bodies.sendKeys, command.body);
  const pressesEnter = text.endsWith('\\n');
  const typed = pressesEnter ? text.slice(0, -2) : text;
  // The text that accessibility tells: of a password it knows the dots alone.
  const before = replace === true ? '' : (target.view.field?.shownText ?? '');
  setText(command, target, before + typed);
  if (pressesEnter) pressEnter(command.phone.android);
}

export const sendKeysToElement: Handler = (command) => sendKeys(command, getElement(command));

export const sendKeysToFocused: Handler = async (command) => {
  const focused = walk(await getTree(command)).find(({ view }) => view.focused === true);
  if (!focused) throw notFound();
  sendKeys(command, focused);
};

export const clearElement: Handler = (command) => setText(command, getElement(command), '');

export const elementText: Handler = (command) => getElement(command).view.text ?? '';

export const elementName: Handler = (command) => getElement(command).view.description ?? '';

export const elementRect: Handler = (command) => {
  const { bounds } = getElement(command);
  return { x: bounds.left, y: bounds.top, width: rectWidth(bounds), height: rectHeight(bounds) };
};

/** The part of a picture of the screen. */
export const elementScreenshot: Handler = async (command) => {
  requireUiAutomation(command.phone);
  const { bounds } = getElement(command);
  const area = {
    left: bounds.left,
    top: bounds.top,
    width: rectWidth(bounds),
    height: rectHeight(bounds),
  };
  const picture = sharp(await command.phone.camera.take('png')).extract(area);
  return (await picture.png().toBuffer()).toString('base64');
};

export const elementSize: Handler = (command) => {
  const { bounds } = getElement(command);
  return { width: rectWidth(bounds), height: rectHeight(bounds) };
};

export const elementLocation: Handler = (command) => {
  const { bounds } = getElement(command);
  return { x: bounds.left, y: bounds.top };
};

const aliases: Readonly<Record<string, string>> = {
  className: 'class',
  contentDescription: 'content-desc',
  longClickable: 'long-clickable',
  name: 'text',
  resourceId: 'resource-id',
};

export const elementAttribute: Handler = (command) => {
  const name = command.parameters['name'] ?? '';
  return sourceAttributes(getElement(command), 0)[aliases[name] ?? name] ?? null;
};
