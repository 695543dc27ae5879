import { errorText } from '@phalanx/settings';
import {
  appRefusalStart,
  type HostQuestionOf,
  type HostQuestionType,
  type PhoneApps,
  type PhoneEvent,
  type PhoneHealth,
  type PhoneInput,
  type NodeInspection,
  type TouchedWindow,
  isHostTouch,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import { nodeStates } from '@phalanx/automation/node-states';
import { proposeSelectors } from '@phalanx/automation/selectors';
import type { ServerConnection } from '../../connection/server-connection.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';
import { DriverError } from '../../driver/driver-error.ts';
import { touchedOf } from '../../driver/touch/find-touched.ts';
import type { Phone } from '../phone.ts';
import { requireNoSecretOfOthers, touchesApp } from '../secrets-of-others.ts';
import type { PhoneWatch } from '../watch-phones.ts';
import { pause } from '../../time/time-limit.ts';
import { doActSteps } from './act/act-steps.ts';
import type { AnswerContext } from './answer-context.ts';
import { nextLiveFrame, nextVideoPackets, nextWallFrame } from './live-camera.ts';
import { readScreen } from './screen-reader.ts';
import type { Driver } from '../../driver/driver.ts';
import { findTarget, readAs } from './act/find-target.ts';
import { PhoneEye } from './act/phone-look.ts';
import { takeFile } from './take-file.ts';
import { restMs, whenAtRest } from './when-at-rest.ts';

const timeoutMs = 15_000;
const screenshotWidth = 1080;

type PhoneQuestion = Exclude<HostQuestionType, 'replay' | 'pairing'>;

type Answer<Name extends PhoneQuestion> = (
  phone: Phone,
  question: HostQuestionOf<Name>,
  context: AnswerContext,
) => Promise<Buffer>;

/**
 * Handlers of the protocol's questions about a phone (`hostQuestions`). Each resolves with the payload or rejects with
 * the reason.
 */
const answers: { readonly [Name in PhoneQuestion]: Answer<Name> } = {
  screenshot: async (_phone, _question, { driver, signal }) => {
    const wanted = { format: 'jpeg', maxWidth: screenshotWidth } as const;
    const { base64 } = await driver().call('screen.screenshot', wanted, signal);
    return Buffer.from(base64, 'base64');
  },
  screen: readScreen,
  health: tellHealth,
  live: nextLiveFrame,
  video: nextVideoPackets,
  wall: nextWallFrame,
  input: doInput,
  clipboard: async (_phone, _question, { driver, signal }) => {
    const text = await driver().call('clipboard.read', {}, signal);
    return Buffer.from(JSON.stringify({ text }));
  },
  file: takeFile,
  act: doActSteps,
  lease: async (phone, counted) => {
    phone.uses.leaseCounted(counted);
    return Buffer.alloc(0);
  },
  node: inspectNode,
  apps: async (_phone, _question, { driver, signal }) => {
    const installed = await driver().call('app.list', {}, signal);
    const apps: PhoneApps = installed
      .map(({ packageName, isSystem }) => ({ package_name: packageName, is_system: isSystem }))
      .toSorted((one, other) => (one.package_name < other.package_name ? -1 : 1));
    return Buffer.from(JSON.stringify(apps));
  },
};

interface AnswerOptions {
  readonly phones: PhoneWatch;
  readonly connection: ServerConnection;
  readonly clock: ServiceClock;
  readonly mayChangeApps: boolean;
  readonly log: Logger;
}

/** Answers a question of the server about a phone, or gives the reason why it has no answer. */
export async function answerQuestion<Name extends PhoneQuestion>(
  question: HostQuestionOf<Name>,
  { phones, connection, clock, mayChangeApps, log }: AnswerOptions,
): Promise<void> {
  const { type, request_id, serial } = question;
  try {
    const phone = phones.find(serial);
    if (phone === undefined) throw new Error(`The phone ${serial} is not connected to this host`);
    const use = isHostTouch(type) ? phone.uses.byHand(question.touch) : undefined;
    const signals = [AbortSignal.timeout(timeoutMs), ...(use === undefined ? [] : [use.over])];
    const signal = AbortSignal.any(signals);
    if (isHostTouch(type) && isTouch(question))
      await requireNoSecretOfOthers(phone, question.touch?.by, signal);
    const answer = await answers[type](phone, question, {
      clock,
      mayChangeApps,
      signal,
      use,
      driver: () => {
        const whole = phone.driver();
        return (use === undefined ? whole : whole.usedBy(use)).limitedTo(question.app_limit);
      },
    });
    connection.sendFrame({ type, request_id }, answer);
  } catch (error) {
    log.debug({ serial, err: error }, `No ${type}`);
    const isRefused = error instanceof DriverError && error.code === 'app_not_allowed';
    const reason = errorText(error);
    const message = `${isRefused ? appRefusalStart : ''}${reason}`.slice(0, 2000);
    connection.send({ type: 'request_failed', request_id, message });
  }
}

function isTouch({ input }: { readonly type: string; readonly input?: PhoneInput }): boolean {
  const keyCode = input?.type === 'key' ? input.key_code : undefined;
  return touchesApp(input?.type === 'launch_app' ? 'app.launch' : 'input.key', keyCode);
}

/** Returns the JSON of a `PhoneHealth`, with times of the service's clock. */
async function tellHealth(
  { facts, history }: Phone,
  _question: HostQuestionOf<'health'>,
  { clock }: AnswerContext,
): Promise<Buffer> {
  const inServiceTime = (event: PhoneEvent): PhoneEvent => ({ ...event, at: clock.toService(event.at) });
  const health: PhoneHealth = {
    facts: facts && { ...facts, sampled_at: clock.toService(facts.sampled_at) },
    last_repair: history.lastRepair && inServiceTime(history.lastRepair),
    events: history.list().map(inServiceTime),
  };
  return Buffer.from(JSON.stringify(health));
}

const defaultSwipeMs = 300;

/** Queues the input behind the running calls of automations on the phone. */
async function doInput(
  phone: Phone,
  { input, tell_window: tellWindow = false, settle = false }: HostQuestionOf<'input'>,
  { driver, signal }: AnswerContext,
): Promise<Buffer> {
  const letSleep = phone.screen.hold();
  try {
    const window = await act(driver(), { input, tellWindow }, signal);
    if (settle) await untilAtRest(driver(), signal);
    return tellWindow ? Buffer.from(JSON.stringify(window ?? null)) : Buffer.alloc(0);
  } finally {
    letSleep();
  }
}

/** Waits until the screen is at rest. An unreadable screen, such as of a locked phone, does not block the caller. */
async function untilAtRest(driver: Driver, signal: AbortSignal): Promise<void> {
  const look = async (): Promise<string> => {
    const { root } = await driver.call('screen.content', {}, signal);
    return driver.digestOf(root) ?? '';
  };
  await pause(restMs, signal);
  await whenAtRest(look, signal).catch(() => undefined);
}

/** Executes the input. If requested, resolves with the window that received a tap or a swipe. */
async function act(
  driver: Driver,
  { input, tellWindow }: { input: PhoneInput; tellWindow: boolean },
  signal: AbortSignal,
): Promise<TouchedWindow | null | void> {
  switch (input.type) {
    case 'tap':
      return await driver.call('input.tap', { x: input.x, y: input.y, tellWindow }, signal);
    case 'swipe': {
      const { from_x: fromX, from_y: fromY, to_x: toX, to_y: toY, duration_ms: durationMs } = input;
      const swipe = { fromX, fromY, toX, toY, durationMs: durationMs ?? defaultSwipeMs };
      return await driver.call('input.swipe', { ...swipe, tellWindow }, signal);
    }
    case 'fingers': {
      const ways = input.ways.map(({ from_x: fromX, from_y: fromY, to_x: toX, to_y: toY }) => ({
        fromX,
        fromY,
        toX,
        toY,
      }));
      const fingers = { ways, durationMs: input.duration_ms ?? defaultSwipeMs };
      return await driver.call('input.fingers', fingers, signal);
    }
    case 'clipboard':
      return await driver.call('clipboard.write', { text: input.text }, signal);
    case 'text':
      return await driver.call('input.text', { text: input.text }, signal);
    case 'key':
      return await driver.call('input.key', { keyCode: input.key_code }, signal);
    default:
      return await driver.call('app.launch', { packageName: input.package_name }, signal);
  }
}

const maxTextLength = 1000;
/** Maximum length of proposed code in characters: a longer selector is unreadable. */
const maxCodeLength = 2000;

/** Returns the JSON of a `NodeInspection`. Rejects when the node is gone or is indistinguishable from others. */
async function inspectNode(
  _phone: Phone,
  { node: wanted }: HostQuestionOf<'node'>,
  { driver, signal }: AnswerContext,
): Promise<Buffer> {
  const phone = driver();
  const look = await new PhoneEye(phone, signal).look();
  const { node } = findTarget(look, wanted);
  const reach = await phone.call('screen.reach', { on: touchedOf(node) }, signal);
  const obstacle = reach.state === 'free' ? null : reach.reason;
  return Buffer.from(JSON.stringify(inspectionOf(readAs(look, node), obstacle)));
}

function inspectionOf(node: AndroidNode, obstacle: string | null): NodeInspection {
  const { left, top, right, bottom } = node.boundsInScreen;
  return {
    class_name: shortened(node.className),
    id: shortened(node.viewId),
    text: shortened(node.text),
    description: shortened(node.description),
    hint: shortened(node.hintText),
    package_name: shortened(node.packageName) ?? '',
    bounds: { left, top, right, bottom },
    is: nodeStates(node),
    children: node.children.length,
    touch_obstacle: obstacle,
    selectors: proposeSelectors(node)
      .filter(({ code }) => code.length <= maxCodeLength)
      .map(({ wait, find, code, count, finds, dependsOn }) => ({
        wait,
        find,
        use: code,
        count,
        finds,
        depends_on: dependsOn ?? null,
      })),
  };
}

const shortened = (text: string | null | undefined): string | null => text?.slice(0, maxTextLength) ?? null;
