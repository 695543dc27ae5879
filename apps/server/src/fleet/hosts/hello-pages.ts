import { type HostMessage, maxOfHost } from '@phalanx/protocol';
import { ProtocolError } from './frames.ts';

type Hello = Extract<HostMessage, { type: 'hello' }>;
type Page = Pick<Hello, 'devices' | 'runs' | 'more'>;

/** Assembles a `hello` that arrives in pages. */
export class HelloPages {
  #hello: Hello | undefined;

  /**
   * Returns the complete `hello` with its last page, `more` before that, and undefined for a message that is not part
   * of one.
   */
  take(message: HostMessage): Hello | 'more' | undefined {
    if (message.type === 'hello_more') return this.#add(message);
    if (this.#hello !== undefined) throw new ProtocolError('the pages of hello must come first');
    if (message.type !== 'hello') return undefined;
    if (message.more !== true) return message;
    this.#hello = message;
    return 'more';
  }

  #add({ devices, runs, more }: Page): Hello | 'more' {
    const hello = this.#hello;
    if (hello === undefined) throw new ProtocolError('hello_more follows a hello that has more');
    for (const one of devices) hello.devices.push(one);
    for (const one of runs) hello.runs.push(one);
    if (hello.devices.length > maxOfHost.devices || hello.runs.length > maxOfHost.runs)
      throw new ProtocolError('hello has too many devices or runs');
    if (more === true) return 'more';
    this.#hello = undefined;
    return hello;
  }
}
