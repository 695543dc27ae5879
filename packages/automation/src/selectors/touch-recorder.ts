import type { PhoneInput, TouchedWindow } from '@phalanx/protocol';

import { nodesBelow } from '../agent/nodes/node-search.ts';
import { comparedText, seenText } from '../texts/seen-text.ts';
import { isChangingText } from './changing-text.ts';
import { mayBeLossy } from './lossy-text.ts';
import { quote } from './conditions.ts';
import { proposeSelectors, type SelectorProposal } from './propose-selectors.ts';
import { secretNameOf } from './secret-name.ts';

/** User input to a phone, with the screen before it and the screen after the phone came to rest. */
interface RecordedTouch {
  readonly input: PhoneInput;
  /** Whether a keyboard that covered the node was closed. Default: false. */
  readonly closeKeyboard?: boolean;
  /** Touched window, as the phone reported it at that time. Default: the window of `before`. */
  readonly window?: TouchedWindow | null | undefined;
  readonly before: AndroidNode;
  readonly after: AndroidNode;
}

const keyDelete = 67;

type Direction = NonNullable<ScrollOptions['direction']>;

/** Duration of a long press in ms, as on Android. */
export const longPressMs = 500;
/** Maximum movement of a tap, as a fraction of the screen. */
const stillShare = 0.02;

/**
 * Writes touches as code that works on any screen size: each waits for its node, and then for new content on the next
 * screen.
 */
export class TouchRecorder {
  /** Direction of preceding swipes. They produce no code by themselves, but bring the next node into view. */
  #scrolled: Direction | undefined;
  /** Tapped field, until it is known whether text is typed into it. */
  #field: PendingField | undefined;
  /** Secret that the last touch typed, which the next touch may continue. */
  #typing: string | undefined;
  readonly #secrets = new Map<string, string>();

  /** Typed passwords by their names in the code. The code contains no values. */
  get secrets(): ReadonlyMap<string, string> {
    return this.#secrets;
  }

  /** Returns the code lines for a touch; none if it only prepares the next one. */
  write(touch: RecordedTouch): string[] {
    const { input, before, after } = touch;
    if (input.type === 'key' && input.key_code === keyDelete && this.#typing !== undefined) {
      this.#secrets.set(this.#typing, [...(this.#secrets.get(this.#typing) ?? '')].slice(0, -1).join(''));
      return [];
    }
    if (input.type !== 'text') this.#typing = undefined;
    if (input.type === 'swipe' && !isStill(input, before)) {
      const field = this.#takeField();
      this.#scrolled = directionOf(input);
      return field;
    }
    if (input.type === 'text') return [...this.#typed(input.text, before), ...seen(before, after)];
    const pending = this.#takeField();
    const other = otherWindowOf(touch);
    if (other !== undefined) return [...pending, pointLine(input, other), ...seen(before, after)];
    if (input.type === 'tap' || input.type === 'swipe') return [...pending, ...this.#pressed(touch)];
    this.#scrolled = undefined;
    return [...pending, `await ${lineOf(input)};`, ...seen(before, after)];
  }

  /** Returns the lines that are still pending when the recording ends. */
  end(): string[] {
    this.#scrolled = undefined;
    return this.#takeField();
  }

  #takeField(): string[] {
    const field = this.#field;
    this.#field = undefined;
    return field === undefined ? [] : [`await (await ${field.proposal.wait}).tap(${field.options});`];
  }

  #typed(text: string, before: AndroidNode): string[] {
    const focused = nodesBelow(before).find((node) => node.isFocused && isField(node));
    const password = this.#field?.node ?? focused;
    if (password?.isPassword === true) return this.#typedSecret(password, text);
    this.#typing = undefined;
    const proposal = this.#field?.proposal ?? (focused === undefined ? undefined : bestOf(focused));
    const words = [quote(text), this.#field?.options ?? ''].filter((word) => word !== '').join(', ');
    this.#field = undefined;
    if (proposal === undefined) return [`await agent.actions.writeText(${words});`];
    return [`await (await ${this.#found(proposal)}).writeText(${words});`];
  }

  #typedSecret(field: AndroidNode, text: string): string[] {
    const name = secretNameOf(field);
    const isMore = this.#typing === name && this.#field === undefined;
    this.#secrets.set(name, `${isMore ? (this.#secrets.get(name) ?? '') : ''}${text}`);
    this.#typing = name;
    return isMore ? [] : [...this.#takeField(), `await agent.secrets.type(${quote(name)});`];
  }

  #pressed({ input, before, after, closeKeyboard = false }: RecordedTouch): string[] {
    const options = closeKeyboard ? '{ closeKeyboard: true }' : '';
    const { x, y } = pointOf(input);
    const node = touchedNode(before, x, y);
    const proposal = node === undefined ? undefined : bestOf(node);
    if (isLauncher(before) && before.packageName !== after.packageName)
      return [`await agent.actions.launchApp(${quote(after.packageName)});`, ...seen(before, after)];
    if (node === undefined || proposal === undefined) {
      this.#scrolled = undefined;
      return [`await agent.actions.tap(${x}, ${y});`, ...seen(before, after)];
    }
    if (input.type === 'tap' && isField(node)) {
      this.#field = { node, proposal, options };
      return [];
    }
    return [
      `await (await ${this.#found(proposal)}).${pressOf(input, options)};`,
      ...(checkLine(proposal, node, after) ?? seen(before, after)),
    ];
  }

  /** Returns the expression that finds the node; after swipes it scrolls to the node. */
  #found({ wait, target }: SelectorProposal): string {
    const direction = this.#scrolled;
    this.#scrolled = undefined;
    if (direction === undefined) return wait;
    const options = direction === 'down' ? '' : `, { direction: ${quote(direction)} }`;
    return `agent.actions.scrollTo(${target}${options})`;
  }
}

/** Tapped field with its code; `options` are those of its tap. */
interface PendingField {
  readonly node: AndroidNode;
  readonly proposal: SelectorProposal;
  readonly options: string;
}

/** Describes the touched window if it differs from that of the screen before, whose nodes were not touched. */
function otherWindowOf({ window, before }: RecordedTouch): string | undefined {
  if (window === undefined || window === null) return undefined;
  if (!window.is_keyboard && window.package_name === before.packageName) return undefined;
  const { package_name: name, is_keyboard: isKeyboard } = window;
  if (isKeyboard) return 'a key of the keyboard; writeText types a text on any phone';
  return name === '' ? 'another window than that of the app in front' : `a window of ${name}`;
}

function pointLine(input: PhoneInput, comment: string): string {
  const { x, y } = pointOf(input);
  const press = input.type === 'swipe' ? `longPress(${x}, ${y}, ${input.duration_ms})` : `tap(${x}, ${y})`;
  return `await agent.actions.${press}; // ${comment}`;
}

function pressOf(input: PhoneInput, options: string): string {
  if (input.type === 'tap') return `tap(${options})`;
  const durationMs = input.type === 'swipe' ? input.duration_ms : undefined;
  return options === '' ? 'longPress()' : `longPress(${durationMs}, ${options})`;
}

const bestOf = (node: AndroidNode): SelectorProposal | undefined =>
  proposeSelectors(node).find(({ finds }) => finds !== 'another');

const isLasting = (node: AndroidNode): boolean => {
  const best = bestOf(node);
  return best !== undefined && best.dependsOn === undefined && best.finds !== 'first';
};

const isField = ({ className, isPassword }: AndroidNode): boolean =>
  isPassword || /(EditText|AutoCompleteTextView)$/.test(className ?? '');
/** Whether the screen is a launcher, which each maker arranges differently. */
const isLauncher = ({ packageName }: AndroidNode): boolean => /launcher|\.home$/i.test(packageName);

/** Returns the smallest node at the point, or its nearest ancestor with a stable selector. */
function touchedNode(screen: AndroidNode, x: number, y: number): AndroidNode | undefined {
  const [smallest] = nodesBelow(screen)
    .filter(({ isVisible, boundsInScreen: { left, top, right, bottom } }) => {
      return isVisible && x >= left && x < right && y >= top && y < bottom;
    })
    .toReversed()
    .toSorted((one, other) => areaOf(one) - areaOf(other));
  if (smallest === undefined || isField(smallest)) return smallest;
  let node: AndroidNode | null = smallest;
  for (let tried = 0; node !== null && tried < maxTried; tried += 1, node = node.parent) {
    if (isLasting(node)) return node;
    // Containers of a clickable node are touched for other reasons.
    if (node.clickable) break;
  }
  return smallest;
}

function areaOf({ boundsInScreen: { left, top, right, bottom } }: AndroidNode): number {
  return Math.max(0, right - left) * Math.max(0, bottom - top);
}

type Swipe = Extract<PhoneInput, { type: 'swipe' }>;

function isStill({ from_x, from_y, to_x, to_y, duration_ms = 0 }: Swipe, screen: AndroidNode): boolean {
  const way = Math.hypot(to_x - from_x, to_y - from_y);
  return duration_ms >= longPressMs && way < stillShare * screen.boundsInScreen.bottom;
}

/** Returns the direction of the wanted node, as seen from the current content. */
function directionOf({ from_x, from_y, to_x, to_y }: Swipe): Direction {
  const [across, along] = [to_x - from_x, to_y - from_y];
  if (Math.abs(along) >= Math.abs(across)) return along < 0 ? 'down' : 'up';
  return across < 0 ? 'right' : 'left';
}

const pointOf = (input: PhoneInput): { x: number; y: number } =>
  input.type === 'tap'
    ? input
    : input.type === 'swipe'
      ? { x: input.from_x, y: input.from_y }
      : { x: 0, y: 0 };

/** Returns the code line for an input without a target node. */
function lineOf(input: Exclude<PhoneInput, { type: 'tap' | 'swipe' | 'text' }>): string {
  if (input.type === 'key') return keyLine(input.key_code);
  if (input.type === 'clipboard') return `agent.actions.setClipboard(${quote(input.text)})`;
  if (input.type === 'launch_app') return `agent.actions.launchApp(${quote(input.package_name)})`;
  return pinchLine(input);
}

const nowhere = { from_x: 0, from_y: 0, to_x: 0, to_y: 0 };
/** Returns the code line for two fingers that change their distance. */
function pinchLine({ ways }: Extract<PhoneInput, { type: 'fingers' }>): string {
  const [one = nowhere, other = one] = ways;
  const middle = (from: number, to: number): number => Math.round((from + to) / 2);
  const x = middle(one.from_x, other.from_x);
  const y = middle(one.from_y, other.from_y);
  const before = Math.round(Math.hypot(one.from_x - other.from_x, one.from_y - other.from_y));
  const after = Math.round(Math.hypot(one.to_x - other.to_x, one.to_y - other.to_y));
  return `agent.actions.pinch(${x}, ${y}, ${before}, ${after})`;
}

const keyLines: Readonly<Record<number, string>> = {
  3: 'agent.actions.home()',
  4: 'agent.actions.back()',
  66: 'agent.actions.performEditorAction()',
  187: 'agent.actions.recents()',
};
const keyLine = (code: number): string => keyLines[code] ?? `agent.actions.inputKey(${code})`;

/** Returns the lines that check a switch's new state after the touch. */
function checkLine({ find }: SelectorProposal, node: AndroidNode, after: AndroidNode): string[] | undefined {
  if (!node.isCheckable) return undefined;
  const now = nodesBelow(after).find((one) => isSamePlace(one, node));
  if (now === undefined || now.isChecked === node.isChecked) return undefined;
  const description = now.isChecked ? 'the switch to be on' : 'the switch to be off';
  return [
    `await agent.actions.waitFor((screen) => ${find}?.isChecked === ${now.isChecked}, { description: ${quote(description)} });`,
  ];
}

const isSamePlace = (one: AndroidNode, other: AndroidNode): boolean =>
  one.className === other.className &&
  one.boundsInScreen.top === other.boundsInScreen.top &&
  one.boundsInScreen.left === other.boundsInScreen.left;

const maxLabelLength = 40;
/**
 * Maximum number of texts to try: on a completely new screen the first will do, and each requires a search of both
 * screens.
 */
const maxTried = 10;

/** Returns lines that wait for the first stable text that is new, which shows that the screen has changed. */
function seen(before: AndroidNode, after: AndroidNode): string[] {
  const known = new Set(nodesBelow(before).map(({ text }) => comparedText(text ?? '')));
  const label = nodesBelow(after)
    .filter((node) => isLabel(node) && !known.has(comparedText(node.text ?? '')))
    .slice(0, maxTried)
    .find(({ text = '' }) => before.findTextOne(text) === null && after.findText(text).length === 1);
  return label?.text === undefined ? [] : [`await agent.actions.waitForText(${quote(label.text)});`];
}

const isLabel = (node: AndroidNode): boolean => {
  const { text = '', isVisible } = node;
  return (
    isVisible &&
    seenText(text) !== '' &&
    text.length <= maxLabelLength &&
    !isField(node) &&
    !node.isCheckable &&
    !isChangingText(text) &&
    !mayBeLossy(text)
  );
};
