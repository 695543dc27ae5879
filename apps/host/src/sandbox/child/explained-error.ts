import type { PortOrders } from '@phalanx/automation';
import { explainMessage } from '@phalanx/automation/name-hints';

/** An error of a name that is not there says what to use instead. */
export function explainedError({ message, text, at }: PortOrders['uncaught']): PortOrders['uncaught'] {
  return { message: explainMessage(message), text: text.replace(message, explainMessage), at };
}
