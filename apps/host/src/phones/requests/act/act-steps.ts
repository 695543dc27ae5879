import { setTimeout as pause } from 'node:timers/promises';
import { longPressMs } from '@phalanx/automation/touch-recorder';
import {
  actKeys,
  type ActSelector,
  type Bounds,
  type HostActAnswer,
  type HostActStep,
  type HostActTarget,
  type HostQuestionOf,
  type PhoneInput,
  type ScreenMask,
  type TouchedNode,
  type UiNode,
} from '@phalanx/protocol';
import type { Driver } from '../../../driver/driver.ts';
import { DriverError } from '../../../driver/driver-error.ts';
import { touchedOf } from '../../../driver/touch/find-touched.ts';
import type { Point } from '../../../driver/touch/rectangles.ts';
import { reachOfNode } from '../../../driver/touch/touch-reach.ts';
import { reasonOf } from '../../../driver/touch/touch-reason.ts';
import { hideTypedSecret } from '../../hide-typed-secret.ts';
import type { Phone } from '../../phone.ts';
import type { AnswerContext } from '../answer-context.ts';
import { screenOf } from '../screen-reader.ts';
import { minuteMs } from '@phalanx/timing/durations';
import { ActRefused, findAll, findTarget, said } from './find-target.ts';
import { nearestTo } from './nearest-to.ts';
import { type Look, PhoneEye } from './phone-look.ts';
import { StepCode } from './step-code.ts';
import { type Direction, largestList, swipeMs, wayWithin } from './swipe-way.ts';

type Result = HostActAnswer['results'][number];
type StepOf<Type extends HostActStep['type']> = Extract<HostActStep, { type: Type }>;

const defaultPressMs = 1000;
const lookEveryMs = 250;
/**
 * Number of swipes without effect that mean the end of a list. A list that is still loading may look like its end once.
 */
const vainSwipesAtEnd = 2;
/** Time for which a typed secret is hidden from later viewers of the phone, in milliseconds. */
const hiddenMs = 10 * minuteMs;

/** Codes of the driver that give the reason why nothing was touched. */
const ownRefusals = ['app_not_allowed', 'covered', 'not_in_view', 'gone'] as const;

/** Thrown when the time of the question is over before the step is done. */
class Unfinished extends Error {}

/**
 * Executes the steps of an `act`, each on the screen of that moment. The answer consists of the JSON of a
 * `HostActAnswer`, a line feed, and the JSON of the final screen.
 */
export async function doActSteps(
  phone: Phone,
  { steps, budget_ms, touch }: HostQuestionOf<'act'>,
  { clock, signal, driver }: AnswerContext,
): Promise<Buffer> {
  const letSleep = phone.screen.hold();
  try {
    hideSecrets(phone, steps);
    const hand = new PhoneHand(phone, driver(), {
      signal,
      until: performance.now() + budget_ms,
      by: touch?.by,
    });
    const results = await hand.doAll(steps);
    const { tree, size } = await hand.eye.known();
    const { captures, isAtRest } = hand.eye;
    const answer: HostActAnswer = { results, captures, settled: isAtRest, code: hand.code.take() };
    const screen = screenOf({ tree, ...size }, clock);
    return Buffer.from(`${JSON.stringify(answer)}\n${JSON.stringify(screen)}`);
  } finally {
    letSleep();
  }
}

function hideSecrets({ masks }: Phone, steps: readonly HostActStep[]): void {
  const hidden: ScreenMask[] = steps.flatMap((step) =>
    step.type === 'type' && step.secret !== undefined && step.text !== undefined
      ? [{ textContains: step.text.slice(0, 500) }, { descriptionContains: step.text.slice(0, 500) }]
      : [],
  );
  if (hidden.length > 0) setTimeout(masks.hold(hidden), hiddenMs).unref();
}

interface Aim extends Point {
  readonly on: TouchedNode;
  readonly closeKeyboard: boolean;
}

class PhoneHand {
  readonly eye: PhoneEye;
  readonly code = new StepCode();
  readonly #phone: Pick<Phone, 'typedSecrets'>;
  readonly #driver: Driver;
  readonly #signal: AbortSignal;
  readonly #until: number;
  readonly #by: string | undefined;

  constructor(
    phone: Pick<Phone, 'typedSecrets'>,
    driver: Driver,
    { signal, until, by }: { signal: AbortSignal; until: number; by: string | undefined },
  ) {
    this.#phone = phone;
    this.#driver = driver;
    this.#signal = signal;
    this.#until = until;
    this.#by = by;
    this.eye = new PhoneEye(driver, signal);
  }

  /** Executes the steps. Stops at the first failure. */
  async doAll(steps: readonly HostActStep[]): Promise<Result[]> {
    const results: Result[] = [];
    for (const step of steps) {
      if (results.length > 0 && performance.now() > this.#until) break;
      const result = await this.#try(step);
      results.push(result);
      if (result.state !== 'done') break;
    }
    return results;
  }

  async #try(step: HostActStep): Promise<Result> {
    try {
      await this.#do(step);
      return { state: 'done' };
    } catch (error) {
      if (error instanceof Unfinished) return { state: 'unfinished' };
      if (error instanceof ActRefused) {
        const { refusal, message, candidates } = error;
        return { state: 'failed', refusal, message, candidates: [...candidates] };
      }
      if (!(error instanceof DriverError)) throw error;
      const refusal = ownRefusals.find((code) => code === error.code) ?? 'phone_failed';
      return { state: 'failed', refusal, message: error.message.slice(0, 1000) };
    }
  }

  async #do(step: HostActStep): Promise<void> {
    switch (step.type) {
      case 'tap':
        return await this.#tap(step.on, step.close_keyboard);
      case 'long_press': {
        const durationMs = step.duration_ms ?? defaultPressMs;
        const aim = await this.#aimAt(step.on, step.close_keyboard);
        const { x, y, closeKeyboard } = aim;
        const ends = { from_x: x, from_y: y, to_x: x, to_y: y };
        const press: PhoneInput = { type: 'swipe', ...ends, duration_ms: Math.max(durationMs, longPressMs) };
        return await this.#touch(
          press,
          () => this.#call('input.longPress', { ...aim, durationMs }),
          closeKeyboard,
        );
      }
      case 'type':
        return await this.#type(step);
      case 'key': {
        const keyCode = typeof step.key === 'number' ? step.key : actKeys[step.key];
        return await this.#touch({ type: 'key', key_code: keyCode }, () =>
          this.#call('input.key', { keyCode }),
        );
      }
      case 'swipe':
        return await this.#swipe(await this.#freePartOf(await this.#listOf(step.within)), step.direction);
      case 'scroll_to':
        return await this.#scrollTo(step);
      case 'launch':
        return await this.#touch({ type: 'launch_app', package_name: step.package_name }, () =>
          this.#call('app.launch', { packageName: step.package_name }),
        );
      case 'open_link': {
        const { url, package_name: packageName } = step;
        const link = packageName === undefined ? { url } : { url, packageName };
        await this.#input(() => this.#call('app.openLink', link));
        return this.code.openedLink(url, packageName);
      }
      case 'wait_for':
        return await this.#waitFor(step);
      default:
        return await this.#touch({ type: 'key', key_code: 4 }, () => this.#call('navigate.back', {}));
    }
  }

  #call: Driver['call'] = (name, params) => this.#driver.call(name, params, this.#signal);

  /** Settles even after a refused input, because the phone may have executed a part of it. */
  async #input(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } finally {
      await this.eye.settleAfterInput();
    }
  }

  /** Executes an input, and writes it as code once it is done. */
  async #touch(input: PhoneInput, work: () => Promise<unknown>, closeKeyboard = false): Promise<void> {
    const before = this.eye.last;
    await this.#input(work);
    this.code.touched({ input, closeKeyboard }, before, await this.eye.known());
  }

  async #tap(target: HostActTarget, closes: boolean | undefined): Promise<void> {
    const aim = await this.#aimAt(target, closes);
    const { x, y, closeKeyboard } = aim;
    await this.#touch({ type: 'tap', x, y }, () => this.#call('input.tap', aim), closeKeyboard);
  }

  async #type({ on, clear, text = '', secret, close_keyboard: closes }: StepOf<'type'>): Promise<void> {
    if (on !== undefined) await this.#tap(on, closes);
    const write = async (): Promise<void> => {
      if (clear === true) await this.#call('input.clearText', {});
      await this.#call('input.text', { text });
    };
    if (secret === undefined) return this.#touch({ type: 'text', text }, write);
    const readScreen = (): Promise<{ root: UiNode }> => this.#call('screen.content', {});
    await hideTypedSecret(this.#phone, { secret: text, by: this.#by, readScreen });
    await this.#input(write);
    this.code.typedSecret(secret);
  }

  /** Returns the point to touch. The driver checks all windows again right before the touch. */
  async #aimAt(target: HostActTarget, closeKeyboard = false): Promise<Aim> {
    const node = await this.#find(target);
    const { root } = (await this.eye.known()).tree;
    const found = reachOfNode({ root, windows: undefined }, node);
    const on = touchedOf(node);
    if (found.state === 'free') return { ...found.point, on, closeKeyboard };
    throw new ActRefused(found.state, reasonOf(found, on));
  }

  /** Finds the target. If the screen has changed since the caller read it, only a node at rest is touched. */
  async #find(target: HostActTarget): Promise<UiNode> {
    const wasAtRest = this.eye.isAtRest;
    const look = await this.eye.known();
    if (wasAtRest) return findTarget(look, target).node;
    try {
      const { node, isUnmoved } = findTarget(look, target);
      if (isUnmoved) return node;
    } catch (error) {
      if (!(error instanceof ActRefused)) throw error;
    }
    return findTarget(await this.eye.settle(), target).node;
  }

  /** Returns the first matching node that a touch reaches. */
  async #findReached(look: Look, sought: string | ActSelector): Promise<UiNode | undefined> {
    const { root } = look.tree;
    for (const node of findAll(look, sought)) {
      if (reachOfNode({ root, windows: undefined }, node).state !== 'free') continue;
      if ((await this.#call('screen.reach', { on: touchedOf(node) })).state === 'free') return node;
    }
    return undefined;
  }

  async #listOf(within: HostActTarget | undefined): Promise<UiNode> {
    if (within !== undefined) return await this.#find(within);
    return largestList((await this.eye.known()).tree.root);
  }

  /** Returns the part of the list outside the keyboard: a swipe that begins on the keyboard scrolls no list. */
  async #freePartOf(list: UiNode): Promise<Bounds> {
    const reach = await this.#call('screen.reach', { on: touchedOf(list) });
    return reach.state === 'free' ? reach.area : list.boundsInScreen;
  }

  async #swipe(bounds: Bounds, direction: Direction): Promise<void> {
    const way = wayWithin(bounds, direction);
    const ends = { from_x: way.fromX, from_y: way.fromY, to_x: way.toX, to_y: way.toY };
    await this.#touch({ type: 'swipe', ...ends, duration_ms: swipeMs }, () =>
      this.#call('input.swipe', { ...way, durationMs: swipeMs }),
    );
  }

  async #scrollTo({ on, within, direction = 'down' }: StepOf<'scroll_to'>): Promise<void> {
    const sought = soughtBy(on);
    for (let vainSwipes = 0; vainSwipes < vainSwipesAtEnd;) {
      const look = await this.eye.known();
      const found = await this.#findReached(look, sought);
      if (found !== undefined) return this.code.scrolledTo(look, found, direction);
      if (performance.now() > this.#until) throw new Unfinished();
      const way = wayWithin(await this.#freePartOf(await this.#listOf(within)), direction);
      await this.#input(() => this.#call('input.swipe', { ...way, durationMs: swipeMs }));
      vainSwipes = (await this.eye.known()).digest === look.digest ? vainSwipes + 1 : 0;
    }
    const nearest = nearestTo(sought, await this.eye.known());
    const what = `${said(sought)} did not come into view, scrolling ${direction} to the end${nearest}`;
    throw new ActRefused('gone', what);
  }

  async #waitFor({ on, gone = false, timeout_ms = 0 }: StepOf<'wait_for'>): Promise<void> {
    const sought = soughtBy(on);
    const until = performance.now() + timeout_ms;
    for (let look = await this.eye.known(); ; look = await this.eye.look()) {
      const [found] = findAll(look, sought);
      if ((found !== undefined) !== gone) {
        if (found !== undefined) this.code.waited(look, found);
        else if (typeof sought === 'string') this.code.waitedForEndOf(sought);
        return;
      }
      if (performance.now() > until)
        throw new ActRefused(
          'timeout',
          `${said(sought)} ${gone ? 'did not go in time' : `did not come in time${nearestTo(sought, look)}`}`,
        );
      if (performance.now() > this.#until) throw new Unfinished();
      await pause(lookEveryMs, undefined, { signal: this.#signal });
    }
  }
}

/** Refuses a number as the target of a wait, because a node that is not on the screen yet has no number. */
function soughtBy(target: HostActTarget): string | ActSelector {
  if (typeof target === 'object' && 'identity' in target)
    throw new ActRefused('gone', 'A number is of a screen that was: give a text or a selector');
  return target;
}
