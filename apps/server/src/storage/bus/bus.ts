/**
 * Sends messages to the other servers of the same database. It keeps none: a server that is not there misses them.
 * State that must not be missed is in the database, where each server looks every second. A server does not hear
 * itself.
 */
export interface Bus {
  /** Whether messages of this server reach the others at present. */
  readonly isConnected: boolean;
  publish(subject: string, text: string): void;
  /** Subscribes a listener, which must not throw. Returns the function that ends the subscription. */
  subscribe(subject: string, listener: (text: string) => void): () => void;
  /** Answers questions. The asker gets a rejection of `work`, with its message. Returns the function that ends it. */
  answer(subject: string, work: (question: string) => Promise<Buffer>): () => void;
  /** Asks a question. Rejects with a sentence for people when nobody answers, or nothing has come in time. */
  ask(subject: string, question: string): Promise<Buffer>;
  /** Registers a listener that is called when messages may have been missed. */
  onGap(listener: () => void): void;
  close(): Promise<void>;
}

/** Message of the rejection when the subject of a question has no listener. It is shown for questions to hosts. */
export const notConnected = 'its host is not connected';
/** Message of the rejection while this server has no connection to the others. */
export const cutOff = 'the servers do not reach each other at present';

interface Validator<Message> {
  Check(value: unknown): value is Message;
}

/** Subscribes to messages in JSON. Ignores messages that have another form. */
export const subscribeTo = <Message>(
  bus: Pick<Bus, 'subscribe'>,
  subject: string,
  validator: Validator<Message>,
  listener: (message: Message) => void,
): (() => void) =>
  bus.subscribe(subject, (text) => {
    const message: unknown = JSON.parse(text);
    if (validator.Check(message)) listener(message);
  });
