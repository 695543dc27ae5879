export interface TextMessage {
  readonly id: number;
  readonly from: string;
  readonly text: string;
  /** Time by the phone's clock, in epoch ms. */
  readonly receivedAt: number;
}

const maxMessages = 1000;
const hourMs = 3_600_000;

/** Text messages that the phone has received, oldest first. */
export class Inbox {
  readonly #messages: TextMessage[] = [];
  #lastId = 0;

  constructor() {
    this.receive('Network', 'Welcome!\nYou have 14 days left.', Date.now() - hourMs);
  }

  list(): readonly TextMessage[] {
    return this.#messages;
  }

  /** Receives a text message from the mobile network. */
  receive(from: string, text: string, receivedAt = Date.now()): TextMessage {
    const message = { id: (this.#lastId += 1), from, text, receivedAt };
    this.#messages.push(message);
    if (this.#messages.length > maxMessages) this.#messages.shift();
    return message;
  }
}
