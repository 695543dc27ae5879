import { randomUUID } from 'node:crypto';

import type { RecentBundles, ServerMessage, HostMessage, WireLogEntries } from '@phalanx/protocol';

import { cutOff, notConnected } from '../../storage/bus/bus.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';

type Question<Message> = Message extends { request_id: string } ? Omit<Message, 'request_id'> : never;
/** What a host is asked about a phone; what its answer is, the protocol says at the frame of the same type. */
export type HostQuestion = Question<ServerMessage>;

/** A connected host, as the features see it. */
export interface HostLink {
  /** Of this connection: a later one of the same host has a greater one. */
  readonly epoch: number;
  readonly hostId: string;
  readonly hostName: string;
  /** Owner of the token, and so of the devices. */
  readonly userId: string;
  readonly userName: string;
  /** Whose token it connected with. */
  readonly principal: Principal;
  /** Where it connected from. */
  readonly address: string | null;
  /** False once the connection is gone: what was sent may not have arrived. */
  readonly isOpen: boolean;
  /** What the host has of the launches on this connection. */
  readonly bundles: RecentBundles<true>;
  /** Whether it takes secrets, and hides them; hosts of the version before don't. */
  readonly knowsSecrets: boolean;
  /** Whether it keeps callers and runs to the apps of their token; hosts of the version before don't. */
  readonly knowsAppLimits: boolean;
  send(message: ServerMessage): void;
  /** Rejects with a sentence for people. */
  ask(question: HostQuestion): Promise<Buffer>;
  /** Ends the connection; the host comes back and says again what was not acknowledged. */
  drop(closeCode: number, reason: string): void;
}

type Said<Type extends HostMessage['type']> = Extract<HostMessage, { type: Type }>;

export interface LogFrame {
  firstSeq: number;
  entries: WireLogEntries;
  /** As it came. */
  sizeBytes: number;
}

/** What hosts say, beside the link that they say it on. */
interface HostEvents {
  hello: [hello: Said<'hello'>];
  devices: [reports: Said<'devices'>['devices']];
  /** The serials of the phones that are ready. */
  heartbeat: [ready: readonly string[]];
  runs: [reports: Said<'runs'>['runs']];
  logs: [runId: string, batch: LogFrame];
  record: [report: Said<'record'>['record']];
  closed: [];
}

type Listener<Name extends keyof HostEvents> = (
  link: HostLink,
  ...said: HostEvents[Name]
) => Promise<void> | void;

/** Brings what hosts say to the features that have registered for it. */
export class HostListeners {
  readonly #listeners: { [Name in keyof HostEvents]: Listener<Name>[] } = {
    hello: [],
    devices: [],
    heartbeat: [],
    runs: [],
    logs: [],
    record: [],
    closed: [],
  };

  readonly #works = new WeakMap<HostLink, PatientWork>();
  readonly #faults: FaultMonitor;

  constructor(faults: FaultMonitor) {
    this.#faults = faults;
  }

  /**
   * Listeners are told in the order in which they registered; each is awaited before the next. What a
   * fault of the storage prevents is done later; signs of life are not, and so never wait behind it.
   */
  on<Name extends keyof HostEvents>(name: Name, listener: Listener<Name>): void {
    this.#listeners[name].push(listener);
  }

  async tell<Name extends keyof HostEvents>(
    name: Name,
    link: HostLink,
    ...said: HostEvents[Name]
  ): Promise<void> {
    const work = this.#workOf(link);
    for (const listener of this.#listeners[name]) {
      if (name === 'heartbeat' || name === 'closed') await listener(link, ...said);
      else await work.do(() => listener(link, ...said));
    }
  }

  #workOf(link: HostLink): PatientWork {
    const work = this.#works.get(link) ?? new PatientWork(this.#faults, link);
    this.#works.set(link, work);
    return work;
  }
}

type Work = () => Promise<void> | void;

/** A host that says more than this before the fault has passed is asked to say it again. */
const maxWaiting = 10_000;

/**
 * What is done with the messages of one connection. What a fault of the storage prevents is done again, in order,
 * when the fault has passed: the connection stays, and the host is not blamed for what is not its own.
 */
class PatientWork {
  readonly #faults: FaultMonitor;
  readonly #link: HostLink;
  readonly #waiting: Work[] = [];

  constructor(faults: FaultMonitor, link: HostLink) {
    this.#faults = faults;
    this.#link = link;
  }

  /** Resolves when the work is done, or has to wait. Rejects with what is no fault of the surroundings. */
  async do(work: Work): Promise<void> {
    if (this.#waiting.length > 0) return this.#keep(work);
    try {
      await work();
    } catch (error) {
      if (!this.#faults.note(error)) throw error;
      this.#keep(work);
    }
  }

  #keep(work: Work): void {
    if (this.#waiting.length >= maxWaiting) throw new Error('too many messages wait for the storage');
    this.#waiting.push(work);
    if (this.#waiting.length === 1) void this.#doLater();
  }

  async #doLater(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!(await this.#faults.whenStorable()) || !this.#link.isOpen) return;
      try {
        await next();
      } catch (error) {
        if (this.#faults.note(error)) continue;
        this.#faults.report(error, 'a message of a host could not be handled');
        this.#link.drop(1011, 'the service could not handle a message');
        return;
      }
      this.#waiting.shift();
    }
  }
}

const timeoutMs = 15_000;
const connectionBroke = 'the connection to its host broke';

/** Whether a host did not get a question, or could not answer it. What another server rejects with is a sentence. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && [notConnected, cutOff, connectionBroke].includes(error.message);

interface Waiting {
  resolve: (picture: Buffer) => void;
  reject: (error: Error) => void;
}

/** Questions to a host about a phone that are waiting for their bytes. */
export class HostRequests {
  readonly #waiting = new Map<string, Waiting>();

  /** Rejects with a sentence for people when the host says no, says nothing, or is gone. */
  async ask(send: (requestId: string) => void): Promise<Buffer> {
    const requestId = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    this.#waiting.set(requestId, { resolve, reject });
    send(requestId);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(requestId);
    }
  }

  /** The payload is a view of a larger frame, which must not be kept alive by it. */
  answer(requestId: string, payload: Buffer): void {
    this.#waiting.get(requestId)?.resolve(Buffer.from(payload));
  }

  refuse(requestId: string, reason: string): void {
    this.#waiting.get(requestId)?.reject(new Error(reason));
  }

  close(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(connectionBroke));
  }
}
