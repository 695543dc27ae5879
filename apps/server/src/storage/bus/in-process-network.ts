import { type Bus, notConnected } from './bus.ts';

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
    for (const member of this.#members)
      if (member !== this) setImmediate(() => member.#deliver(subject, text));
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

  /** Messages within a process are never missed. */
  onGap(): void {}

  async close(): Promise<void> {
    this.#members.delete(this);
  }

  #deliver(subject: string, text: string): void {
    for (const listener of this.#listeners.get(subject) ?? []) listener(text);
  }
}
