import { createAndroidNode } from '@phalanx/automation/android-node';
import { quote } from '@phalanx/automation/conditions';
import { proposeSelectors } from '@phalanx/automation/selectors';
import { TouchRecorder } from '@phalanx/automation/touch-recorder';
import type { PhoneInput, UiNode } from '@phalanx/protocol';

import { readAs, untouchable } from './find-target.ts';
import type { Look } from './phone-look.ts';

type Swipe = Extract<PhoneInput, { type: 'swipe' }>;
type Direction = NonNullable<ScrollOptions['direction']>;

const maxBytes = 24 * 1024;

/** Writes what steps have done as code of an automation, which waits for what it touches and for what came of it. */
export class StepCode {
  readonly #recorder = new TouchRecorder();
  readonly #lines: string[] = [];
  /** The last step, when it was one: what it brings into view is perhaps touched by the next. */
  #lastSwipe: Swipe | undefined;

  /** Notes a touch. Without a look before it, nothing is known to be new after it. */
  touched(
    { input, closeKeyboard }: { input: PhoneInput; closeKeyboard: boolean },
    before: Look | undefined,
    after: Look,
  ): void {
    const shown = asAutomationsRead(after);
    this.#lastSwipe = input.type === 'swipe' && isWay(input) ? input : undefined;
    this.#lines.push(
      ...this.#recorder.write({
        input,
        closeKeyboard,
        before: before ? asAutomationsRead(before) : shown,
        after: shown,
      }),
    );
  }

  /** `node`: what was scrolled into view. */
  scrolledTo(look: Look, node: UiNode, direction: Direction): void {
    const [best] = proposeSelectors(readAs(look, node));
    const options = direction === 'down' ? '' : `, { direction: ${quote(direction)} }`;
    if (best !== undefined)
      this.#lines.push(...this.#end(), `await agent.actions.scrollTo(${best.target}${options});`);
  }

  /** The value is in no code. */
  typedSecret(name: string): void {
    this.#lines.push(...this.#end(), `await agent.secrets.type(${quote(name)});`);
  }

  openedLink(url: string, packageName: string | undefined): void {
    const app = packageName === undefined ? '' : `, ${quote(packageName)}`;
    this.#lines.push(...this.#end(), `await agent.actions.openLink(${quote(url)}${app});`);
  }

  /** `node`: the one that was waited for. */
  waited(look: Look, node: UiNode): void {
    const [best] = proposeSelectors(readAs(look, node));
    if (best !== undefined) this.#lines.push(...this.#end(), `await ${best.wait};`);
  }

  waitedForEndOf(text: string): void {
    this.#lines.push(...this.#end(), `await agent.actions.waitForTextGone(${quote(text)});`);
  }

  /** All of it, as far as it fits into an answer. */
  take(): string[] {
    let left = maxBytes;
    return [...this.#lines, ...this.#end()].filter((line) => {
      left -= Buffer.byteLength(JSON.stringify(line));
      return left >= 0;
    });
  }

  #end(): string[] {
    const swipe = this.#lastSwipe;
    this.#lastSwipe = undefined;
    return [...this.#recorder.end(), ...(swipe === undefined ? [] : [swipeLine(swipe)])];
  }
}

const asAutomationsRead = ({ tree: { root } }: Look): AndroidNode => createAndroidNode(root, untouchable);

const swipeLine = ({ from_x, from_y, to_x, to_y }: Swipe): string =>
  `await agent.actions.swipe(${from_x}, ${from_y}, ${to_x}, ${to_y});`;

const isWay = ({ from_x, from_y, to_x, to_y }: Swipe): boolean => from_x !== to_x || from_y !== to_y;
