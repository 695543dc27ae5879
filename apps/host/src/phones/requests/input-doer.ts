import type { HostQuestionOf, PhoneInput } from '@phalanx/protocol';

import type { Driver } from '../../driver/driver.ts';
import type { Phone } from '../phone.ts';
import type { AnswerContext } from './answer-context.ts';

const usualSwipeMs = 300;

/** Does the input among the calls of automations that run on the phone. */
export async function doInput(
  phone: Phone,
  { input, app_limit }: HostQuestionOf<'input'>,
  { signal }: AnswerContext,
): Promise<Buffer> {
  const letSleep = phone.screen.hold();
  try {
    await act(phone.driver().limitedTo(app_limit), input, signal);
  } finally {
    letSleep();
  }
  return Buffer.alloc(0);
}

async function act(driver: Driver, input: PhoneInput, signal: AbortSignal): Promise<void> {
  switch (input.type) {
    case 'tap':
      return await driver.call('input.tap', { x: input.x, y: input.y }, signal);
    case 'swipe': {
      const { from_x: fromX, from_y: fromY, to_x: toX, to_y: toY, duration_ms: durationMs } = input;
      const swipe = { fromX, fromY, toX, toY, durationMs: durationMs ?? usualSwipeMs };
      return await driver.call('input.swipe', swipe, signal);
    }
    case 'fingers': {
      const ways = input.ways.map(({ from_x: fromX, from_y: fromY, to_x: toX, to_y: toY }) => ({
        ...{ fromX, fromY, toX, toY },
      }));
      const fingers = { ways, durationMs: input.duration_ms ?? usualSwipeMs };
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
