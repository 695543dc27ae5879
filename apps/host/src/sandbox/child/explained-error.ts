import type { PortOrders } from '@phalanx/automation';
import { explainMessage } from '@phalanx/automation/name-hints';

/** Explains an error about an undefined name: the message then names the replacement. */
export function explainedError({ message, text, at }: PortOrders['uncaught']): PortOrders['uncaught'] {
  return { message: explainMessage(message), text: text.replace(message, explainMessage), at };
}
