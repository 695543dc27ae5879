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

/** Writes executed steps as code of an automation, which waits for its targets and for the results of its touches. */
export class StepCode {
  readonly #recorder = new TouchRecorder();
  readonly #lines: string[] = [];
  /** Last step if it was a swipe: the next step may touch what the swipe scrolled into view. */
  #lastSwipe: Swipe | undefined;

  /** Records a touch. Without a look before it, nothing can be recognized as new after it. */
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

  /** Records a scroll that brought `node` into view. */
  scrolledTo(look: Look, node: UiNode, direction: Direction): void {
    const [best] = proposeSelectors(readAs(look, node));
    const options = direction === 'down' ? '' : `, { direction: ${quote(direction)} }`;
    if (best !== undefined)
      this.#lines.push(...this.#end(), `await agent.actions.scrollTo(${best.target}${options});`);
  }

  /** Records the typing of a secret. The code never contains its value. */
  typedSecret(name: string): void {
    this.#lines.push(...this.#end(), `await agent.secrets.type(${quote(name)});`);
  }

  openedLink(url: string, packageName: string | undefined): void {
    const app = packageName === undefined ? '' : `, ${quote(packageName)}`;
    this.#lines.push(...this.#end(), `await agent.actions.openLink(${quote(url)}${app});`);
  }

  /** Records a wait for `node`. */
  waited(look: Look, node: UiNode): void {
    const [best] = proposeSelectors(readAs(look, node));
    if (best !== undefined) this.#lines.push(...this.#end(), `await ${best.wait};`);
  }

  waitedForEndOf(text: string): void {
    this.#lines.push(...this.#end(), `await agent.actions.waitForTextGone(${quote(text)});`);
  }

  /** Returns the code as far as it fits into an answer. */
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
