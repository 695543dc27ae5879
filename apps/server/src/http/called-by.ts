import { AsyncLocalStorage } from 'node:async_hooks';

/** A way into the service that makes requests of its own, with the token of whoever came by it. */
interface CalledBy {
  readonly via: 'mcp';
  /** What the caller's program calls itself. */
  readonly client: string;
}

/** Set while such requests are made; what they change is noted with it. */
export const calledBy = new AsyncLocalStorage<CalledBy>();
