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

type Listener = (text: string) => void;
type Work = (question: string) => Promise<Buffer>;

/** Connects the servers of one process; a single server is its only member. */
export class InProcessNetwork {
  readonly #members = new Set<InProcessBus>();

  join(): InProcessBus {
    const member = new InProcessBus(this.#members);
    this.#members.add(member);
    return member;
  }
}

class InProcessBus implements Bus {
  readonly isConnected = true;
  readonly #members: Set<InProcessBus>;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #works = new Map<string, Work>();

  constructor(members: Set<InProcessBus>) {
    this.#members = members;
  }

  publish(subject: string, text: string): void {
    for (const member of this.#members) if (member !== this) setImmediate(() => member.#hear(subject, text));
  }

  subscribe(subject: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(subject);
    };
  }

  answer(subject: string, work: Work): () => void {
    this.#works.set(subject, work);
    return () => this.#works.delete(subject);
  }

  async ask(subject: string, question: string): Promise<Buffer> {
    for (const member of this.#members) {
      const work = member === this ? undefined : member.#works.get(subject);
      if (work !== undefined) return work(question);
    }
    throw new Error(notConnected);
  }

  /** Nothing is missed within a process. */
  onGap(): void {}

  async close(): Promise<void> {
    this.#members.delete(this);
  }

  #hear(subject: string, text: string): void {
    for (const listener of this.#listeners.get(subject) ?? []) listener(text);
  }
}
