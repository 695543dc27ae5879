import type { Android } from '../android/android.ts';
import { applyGesture, doubleTap, longPress, tap } from '../android/input/touch.ts';
import { pause } from '../pause.ts';
import { center, type Point, type Rect, rectHeight, rectWidth } from '../view/rect.ts';
import { walk, type VisibleView } from '../view/view.ts';
import type { Gesture } from '../android/input/input-log.ts';
import { type AreaBody, bodies, type ElementBody, findElementId, parseBody } from './bodies.ts';
import { type Command, getTree, type Handler, requireInjection, getElement } from './command.ts';
import { locateAll } from './locate.ts';
import { WebDriverError } from './web-driver-error.ts';

const pinchMs = 400;

/** Two fingers that part along the height of the area, or meet in its middle; they are noted, and no app of this phone heeds them. */
const pinching =
  (isOpening: boolean): Handler =>
  (command) => {
    requireInjection(command.phone, 'gesture');
    const { origin, area, percent } = parseBody(bodies.pinch, command.body);
    const rect = gestureArea(command, origin, area);
    const { x, y } = center(rect);
    const way = Math.round((rectHeight(rect) * percent) / 2);
    const gestures = [-way, way].map((dy): Gesture => {
      const [near, far] = [
        { x, y: y + Math.sign(dy) },
        { x, y: y + dy },
      ];
      return isOpening
        ? { from: near, to: far, durationMs: pinchMs }
        : { from: far, to: near, durationMs: pinchMs };
    });
    command.phone.android.inputs.add({ kind: 'fingers', gestures });
  };

export const pinchOpen = pinching(true);
export const pinchClose = pinching(false);

const swipeMs = 200;
/** Android's own time-out of a long press. */
const defaultHoldMs = 500;

/** Target of a click: an offset inside an element, its middle, or a point of the screen. */
async function clickPoint(command: Command): Promise<Point> {
  const { origin, locator, offset } = parseBody(bodies.click, command.body);
  const id = findElementId(origin);
  const located = locator && locateAll(await getTree(command), locator.strategy, locator.selector)[0];
  if (locator && id === undefined && !located)
    throw new WebDriverError('no such element', 'The locator matches nothing');
  const target = id === undefined ? located : command.session.getElement(id);
  if (!target) {
    if (offset) return { x: Math.trunc(offset.x), y: Math.trunc(offset.y) };
    throw new WebDriverError(
      'invalid argument',
      'Click offset coordinates must be provided if element is not set',
    );
  }
  if (!offset) return center(target.bounds);
  return { x: target.bounds.left + Math.trunc(offset.x), y: target.bounds.top + Math.trunc(offset.y) };
}

const clicking =
  (press: (android: Android, at: Point) => void): Handler =>
  async (command) => {
    requireInjection(command.phone, 'gesture');
    press(command.phone.android, await clickPoint(command));
  };

export const click = clicking(tap);
export const doubleClick = clicking(doubleTap);

/** The finger rests for the whole time before the answer comes, also when nobody waits for that any more. */
export const longClick: Handler = async (command) => {
  const { phone, body } = command;
  requireInjection(phone, 'gesture');
  const { duration = defaultHoldMs } = parseBody(bodies.click, body);
  const at = await clickPoint(command);
  const { signal } = phone.power;
  await pause(signal, duration);
  if (!signal.aborted) longPress(phone.android, at);
};

export const drag: Handler = (command) => {
  requireInjection(command.phone, 'gesture');
  const { origin, start, end } = parseBody(bodies.drag, command.body);
  const id = findElementId(origin);
  const from = id === undefined ? start : center(command.session.getElement(id).bounds);
  if (!from)
    throw new WebDriverError(
      'invalid argument',
      'Drag start coordinates must be provided if element is not set',
    );
  applyGesture(command.phone.android, { from, to: end, durationMs: swipeMs });
};

function gestureArea(command: Command, origin: ElementBody | undefined, area: AreaBody | undefined): Rect {
  const id = findElementId(origin);
  if (id !== undefined) return command.session.getElement(id).bounds;
  if (!area)
    throw new WebDriverError(
      'invalid argument',
      'The area coordinates must be provided if element is not set',
    );
  return { left: area.left, top: area.top, right: area.left + area.width, bottom: area.top + area.height };
}

/** The finger goes in the direction, from the area's edge over a share of its length. */
function swipeIn(
  command: Command,
  area: Rect,
  { direction, percent }: { direction: string; percent: number },
): void {
  requireInjection(command.phone, 'gesture');
  const { x, y } = center(area);
  const dx = Math.round(rectWidth(area) * percent);
  const dy = Math.round(rectHeight(area) * percent);
  const paths: Readonly<Record<string, readonly [Point, Point]>> = {
    up: [
      { x, y: area.bottom - 1 },
      { x, y: area.bottom - 1 - dy },
    ],
    down: [
      { x, y: area.top },
      { x, y: area.top + dy },
    ],
    left: [
      { x: area.right - 1, y },
      { x: area.right - 1 - dx, y },
    ],
    right: [
      { x: area.left, y },
      { x: area.left + dx, y },
    ],
  };
  const [from, to] = paths[direction.toLowerCase()] ?? [];
  if (from && to) applyGesture(command.phone.android, { from, to, durationMs: swipeMs });
}

export const swipe: Handler = (command) => {
  const { origin, area, direction, percent } = parseBody(bodies.directed, command.body);
  swipeIn(command, gestureArea(command, origin, area), { direction, percent });
};

const opposite: Readonly<Record<string, string>> = { up: 'down', down: 'up', left: 'right', right: 'left' };

/** Whether the list can go on in that direction: the answer of scroll and fling. */
async function canScrollMore(command: Command, direction: string): Promise<boolean> {
  const list = walk(await getTree(command)).find(({ view }) => view.scroll !== undefined);
  const scroll = list?.view.scroll;
  if (!scroll) return false;
  return direction === 'down' ? scroll.offset < scroll.max : direction === 'up' && scroll.offset > 0;
}

/** Scrolling down shows what is below, so the finger goes up. */
export const scroll: Handler = (command) => {
  const { origin, area, direction, percent } = parseBody(bodies.directed, command.body);
  const way = direction.toLowerCase();
  swipeIn(command, gestureArea(command, origin, area), { direction: opposite[way] ?? way, percent });
  return canScrollMore(command, way);
};

export const fling: Handler = (command) => {
  const { origin, area, direction } = parseBody(bodies.fling, command.body);
  const way = direction.toLowerCase();
  const rect = gestureArea(command, origin, area);
  for (let times = 0; times < 4; times++)
    swipeIn(command, rect, { direction: opposite[way] ?? way, percent: 0.9 });
  return canScrollMore(command, way);
};

/** UiScrollable.java: how often it swipes at most, and over which share of the list. */
const maxScrollSwipes = 30;
const scrollSwipeShare = 0.8;
const scrollSwipeMs = 200;

const strategies = ['accessibility id', 'class name', '-android uiautomator'];

/** One swipe of a list; false when it did not move any more. */
function swipeList(command: Command, list: VisibleView, direction: 1 | -1): boolean {
  const { scroll: position } = list.view;
  const before = position?.offset;
  const middle = center(list.bounds);
  const way = (direction * Math.round(rectHeight(list.bounds) * scrollSwipeShare)) / 2;
  const from = { x: middle.x, y: middle.y + way };
  const to = { x: middle.x, y: middle.y - way };
  applyGesture(command.phone.android, { from, to, durationMs: scrollSwipeMs });
  return position !== undefined && position.offset !== before;
}

async function findList(command: Command, id: string | undefined): Promise<VisibleView> {
  if (id !== undefined) return command.session.getElement(id);
  const list = walk(await getTree(command)).find(({ view }) => view.scroll !== undefined);
  if (list) return list;
  throw new WebDriverError('no such element', 'There is nothing that scrolls on the screen');
}

/** From where it stands to the beginning, and from there down to what is wanted; false when it is nowhere. */
async function scrollTo(
  command: Command,
  {
    listId,
    isThere,
    swipes,
  }: { listId: string | undefined; isThere: () => Promise<boolean>; swipes: number },
): Promise<boolean> {
  requireInjection(command.phone, 'gesture');
  if (await isThere()) return true;
  for (let count = 0; count < swipes; count += 1)
    if (!swipeList(command, await findList(command, listId), -1)) break;
  for (let count = 0; count < swipes; count += 1) {
    if (await isThere()) return true;
    if (!swipeList(command, await findList(command, listId), 1)) return false;
  }
  return isThere();
}

export const scrollToLocator: Handler = async (command) => {
  const { origin, params } = parseBody(bodies.scrollTo, command.body);
  const { strategy, selector } = params;
  if (!strategies.includes(strategy))
    throw new WebDriverError('invalid argument', `Unsupported strategy: '${strategy}'.`);
  const isThere = async () => locateAll(await getTree(command), strategy, selector).length > 0;
  const found = await scrollTo(command, {
    listId: findElementId(origin),
    isThere,
    swipes: params.maxSwipes ?? maxScrollSwipes,
  });
  if (!found) throw new WebDriverError('no such element', 'Could not scroll to the element');
};

export const scrollToElement: Handler = (command) => {
  getElement(command);
  const { id, next = '' } = command.parameters;
  const isThere = async () => command.session.isShown(next);
  return scrollTo(command, { listId: id, isThere, swipes: maxScrollSwipes });
};
