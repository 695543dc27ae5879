import {
  type AgentCallParams,
  type AgentCallName,
  findDialogButtons,
  type SandboxCallResult,
  type ReplayScreen,
  type ScreenTree,
  type TouchReach,
  type UiNode,
} from '@phalanx/protocol';
import { findLabelled } from '../../../driver/find-labelled.ts';
import { reachOf } from '../../../driver/touch/touch-reach.ts';
import { reasonOf } from '../../../driver/touch/touch-reason.ts';

/** Calls after which a phone may show another screen. */
const changing =
  /^(?:input\.|secret\.type$|navigate\.|alert\.|app\.(?:launch|stop|openLink|clearData)$|clipboard\.write$|screen\.rotate$)/;

/** Calls without a visible effect on a screen. */
const unseen: ReadonlySet<string> = new Set(['screen.animations', 'phone.settings']);

export const changesPhone = (name: string): boolean => changing.test(name);

const done: SandboxCallResult = { ok: true };

const refused = (code: string, message: string): SandboxCallResult => ({
  ok: false,
  error: { code, message },
});

/** Prefix of `not_replayed` errors, which identifies them when no code has caught them. */
export const notReplayed = 'A saved screen can not answer ';

/** Returns the result of a call that neither reads nor stores the screen. */
export function answerCall(name: string, params: unknown, screen: ShownScreen): SandboxCallResult {
  switch (name) {
    case 'screen.windows':
      return { ok: true, value: [{ root: screen.tree.root, isKeyboard: false }] };
    case 'screen.reach':
      return { ok: true, value: reachOnScreen(paramsOf<'screen.reach'>(params), screen) };
    case 'screen.change':
      return { ok: true, value: 'untold' };
    case 'screen.screenshot':
      return refused('screen_not_readable', 'A saved screen has no picture.');
    case 'alert.press':
      return pressAlert(paramsOf<'alert.press'>(params), screen);
    case 'device.info':
      return { ok: true, value: deviceOf(screen) };
    case 'app.current':
      return { ok: true, value: { packageName: screen.tree.packageName, activity: null } };
    case 'run.attach':
      return done;
    case 'secret.get':
      return { ok: true, value: 'secret' };
    case 'clipboard.read':
      return { ok: true, value: '' };
    default:
      // A saved screen belongs to no job.
      if (name.startsWith('task.')) return { ok: true, value: { success: true, tasks: [], timeoutMs: 0 } };
      return changesPhone(name) || unseen.has(name)
        ? done
        : refused('not_replayed', `${notReplayed}"${name}": only a phone can.`);
  }
}

/** Returns the reach of a touch; a saved screen has no other windows. */
function reachOnScreen({ on }: AgentCallParams<'screen.reach'>, { tree }: ShownScreen): TouchReach {
  const found = reachOf({ root: tree.root, windows: undefined }, on);
  return found.state === 'free' ? found : { state: found.state, reason: reasonOf(found, on) };
}

function pressAlert(
  { answer, button }: AgentCallParams<'alert.press'>,
  screen: ShownScreen,
): SandboxCallResult {
  const dialog = findDialogButtons(screen.tree.root);
  const found = dialog && (button === undefined ? dialog[answer] : findLabelled(dialog, button));
  if (found !== undefined) return { ok: true, value: found.label };
  return refused('no_alert', 'The saved screen has no such button of a dialog.');
}

function deviceOf({ tree }: ShownScreen): Record<string, unknown> {
  const { right, bottom } = tree.root.boundsInScreen;
  const [screenWidth, screenHeight] = tree.rotation % 2 === 0 ? [right, bottom] : [bottom, right];
  return {
    deviceId: '00000000-0000-0000-0000-000000000000',
    serial: 'SAVED',
    brand: 'saved',
    model: 'screen',
    androidVersion: '15',
    sdkVersion: 35,
    screenWidth,
    screenHeight,
    densityDpi: 420,
  };
}

/** Describes in words what a call does to the phone. */
export function wordsOfCall(name: string, params: unknown, screen: ShownScreen): string {
  const given = typeof params === 'object' && params !== null ? params : {};
  if ('x' in given && 'y' in given) return `${name} on ${screen.wordsAt(Number(given.x), Number(given.y))}`;
  if ('fromX' in given && 'fromY' in given)
    return `${name} from ${screen.wordsAt(Number(given.fromX), Number(given.fromY))}`;
  const [detail] = Object.entries(given)
    .filter(([key]) => ['packageName', 'url', 'keyCode', 'answer'].includes(key))
    .map(([, value]) => String(value));
  return detail === undefined ? name : `${name} ${detail}`;
}

const paramsOf = <Name extends AgentCallName>(params: unknown): AgentCallParams<Name> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the prelude; user code harms only its replay
  params as AgentCallParams<Name>;

/** Saved screen that stands in for a phone's screen. */
export class ShownScreen {
  readonly stage: string;
  readonly #treeJson: string;
  #tree: ScreenTree | undefined;

  constructor({ treeJson, stage = '' }: ReplayScreen) {
    this.#treeJson = treeJson;
    this.stage = stage;
  }

  get tree(): ScreenTree {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the sender
    return (this.#tree ??= JSON.parse(this.#treeJson) as ScreenTree);
  }

  /** Returns the JSON of the tree with an ID by which the code can store it. */
  jsonAs(treeId: number): string {
    return `${this.#treeJson.slice(0, -1)},"treeId":${treeId}}`;
  }

  /** Describes in words the node that receives an input at this point. */
  wordsAt(x: number, y: number): string {
    const hit = nodesAt(this.tree.root, x, y);
    const node = hit.findLast(({ clickable }) => clickable) ?? hit.at(-1);
    return node === undefined ? 'nothing' : wordsFor(node);
  }

  isPasswordAt(x: number, y: number): boolean {
    return nodesAt(this.tree.root, x, y).some(({ password }) => password);
  }

  get hasPasswordFocus(): boolean {
    return nodesOf(this.tree.root).some(({ password, focused }) => password && focused);
  }
}

function nodesOf(root: UiNode): UiNode[] {
  const found = [root];
  for (const node of found) found.push(...node.children);
  return found;
}

/** Returns the nodes at a point, outer nodes first. */
const nodesAt = (root: UiNode, x: number, y: number): UiNode[] =>
  nodesOf(root).filter(({ visible, boundsInScreen: { left, top, right, bottom } }) => {
    return visible && left <= x && x < right && top <= y && y < bottom;
  });

function wordsFor({ className, viewId, text, description }: UiNode): string {
  const id = viewId === null ? '' : ` #${viewId.split(':id/').at(-1)}`;
  const label = text || description;
  return `${className?.split('.').at(-1) ?? 'node'}${id}${label ? ` "${label.slice(0, 60)}"` : ''}`;
}
