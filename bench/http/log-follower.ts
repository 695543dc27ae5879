import type { Api } from './api.ts';

/** Follows the log events of a service: it hears of an entry when it is stored, and asks for nothing. */
export class LogFollower {
  readonly #waiting = new Map<string, () => void>();
  #text = '';

  static async open({ url, token }: Api): Promise<LogFollower> {
    const { ok, body } = await fetch(new URL('/api/v2/events', url), {
      headers: { authorization: `Bearer ${token}` },
    });
    if (!ok || body === null) throw new Error('the events could not be followed');
    const follower = new LogFollower();
    // The stream breaks off when the service ends.
    follower.#read(body.pipeThrough(new TextDecoderStream())).catch(() => undefined);
    return follower;
  }

  /** Resolves when the automation has logged. Call it before that. */
  whenLogged(automationId: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(automationId, resolve));
  }

  async #read(stream: ReadableStream<string>): Promise<void> {
    for await (const text of stream) {
      const events = `${this.#text}${text}`.split('\n\n');
      this.#text = events.pop() ?? '';
      for (const event of events) if (event.includes('event: log\n')) this.#tell(event);
    }
  }

  #tell(event: string): void {
    const [, automationId = ''] = /"automationId":"([^"]*)"/.exec(event) ?? [];
    this.#waiting.get(automationId)?.();
    this.#waiting.delete(automationId);
  }
}
