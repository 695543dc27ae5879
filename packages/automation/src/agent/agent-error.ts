import { withoutPrelude } from '../caller-stack.ts';

/** A call to the phone that failed. `code` is a stable word, such as `device_offline`. */
export class AgentError extends Error {
  code = 'unknown';

  constructor() {
    super('');
    Object.defineProperty(this, 'name', { value: 'AgentError', configurable: true, writable: true });
  }

  /** The same error with its reason; the stack stays that of the call. */
  because(reason: { code: string; message: string }): this {
    const frames = withoutPrelude(String(this.stack)).split('\n').slice(1);
    const define = (name: string, value: string): unknown =>
      Object.defineProperty(this, name, { value, configurable: true, writable: true });
    define('message', reason.message);
    define('stack', [`AgentError: ${reason.message}`, ...frames].join('\n'));
    this.code = reason.code;
    return this;
  }
}
