import { applyGesture } from '../android/input/touch.ts';
import type { VisibleView } from '../view/find-view.ts';
import { walk } from '../view/find-view.ts';
import { center, rectHeight } from '../view/rect.ts';
import { bodies, findElementId, parseBody } from './bodies.ts';
import { type Command, getElement, getTree, type Handler, requireInjection } from './command.ts';
import { locateAll } from './locate.ts';
import { WebDriverError } from './web-driver-error.ts';

/** UiScrollable.java: how often it swipes at most, and over which share of the list. */
const maxSwipes = 30;
const swipeShare = 0.8;
const swipeMs = 200;

const strategies = ['accessibility id', 'class name', '-android uiautomator'];

/** One swipe of a list; false when it did not move any more. */
function swipeList(command: Command, list: VisibleView, direction: 1 | -1): boolean {
  const { scroll } = list.view;
  const before = scroll?.offset;
  const middle = center(list.bounds);
  const way = (direction * Math.round(rectHeight(list.bounds) * swipeShare)) / 2;
  const from = { x: middle.x, y: middle.y + way };
  const to = { x: middle.x, y: middle.y - way };
  applyGesture(command.phone.android, { from, to, durationMs: swipeMs });
  return scroll !== undefined && scroll.offset !== before;
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
    swipes: params.maxSwipes ?? maxSwipes,
  });
  if (!found) throw new WebDriverError('no such element', 'Could not scroll to the element');
};

export const scrollToElement: Handler = (command) => {
  getElement(command);
  const { id, next = '' } = command.parameters;
  const isThere = async () => command.session.isShown(next);
  return scrollTo(command, { listId: id, isThere, swipes: maxSwipes });
};
