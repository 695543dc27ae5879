/**
 * What reaches the other servers that work with the same database. It keeps nothing: who is not there misses it, and
 * what must not be missed is in the database, where each server looks every second. A server does not hear itself.
 */
export interface Bus {
  /** Whether the others can hear this server at present. */
  readonly isConnected: boolean;
  publish(subject: string, text: string): void;
  /** Returns the function that ends it. A listener must not throw. */
  subscribe(subject: string, listener: (text: string) => void): () => void;
  /** The same for questions; a rejection is the asker's, with its message. */
  answer(subject: string, work: (question: string) => Promise<Buffer>): () => void;
  /** Rejects with a sentence for people: nobody is there who answers, or nothing has come in time. */
  ask(subject: string, question: string): Promise<Buffer>;
  /** Registers who is told that messages may have been missed. */
  onGap(listener: () => void): void;
  close(): Promise<void>;
}

/** What a question is rejected with when nobody listens to its subject, which is that of a host. */
export const notConnected = 'its host is not connected';
/** The same while this server has no connection to the others. */
export const cutOff = 'the servers do not reach each other at present';

interface Validator<Message> {
  Check(value: unknown): value is Message;
}

/** The same as `subscribe` for messages in JSON; what has another form is nothing of ours. */
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
