import { randomUUID } from 'node:crypto';

import { type WireLogEntry, wireStepLevel } from '@phalanx/protocol';

import { logsHeader } from '../../apps/server/src/testing/host-wire.ts';
import type { SimulatedHost } from './simulated-host.ts';

const messageLength = 80;

/** Returns entries as a verbose automation writes them. */
export function sampleEntries(count: number): WireLogEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const text = `step ${index}: tapped the button "Continue" and waited for the next screen `;
    return [Date.now(), 0, 10 + (index % 90), text.padEnd(messageLength, '.')];
  });
}

/** Returns steps as an automation of waits and touches produces them. */
export function sampleSteps(first: number, count: number): WireLogEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const step = {
      step: first + index,
      name: 'waitForText',
      target: '"Continue"',
      outcome: 'ok',
      duration_ms: 214,
      node: [40, 1200, 1040, 1320],
      readings: 2,
      before: randomUUID(),
      after: randomUUID(),
    };
    return [Date.now(), wireStepLevel, 10 + (index % 90), JSON.stringify(step), 'flows/checkout.ts'];
  });
}

/** Sends the entries of one run repeatedly, with at most `window` unacknowledged frames. */
export class LogSender {
  /** Number of entries that the server has stored. */
  stored = 0;
  readonly #host: SimulatedHost;
  readonly #runId: string;
  readonly #payload: Buffer;
  readonly #count: number;
  readonly #window: number;
  #sent = 0;
  #isSending = false;
  #onIdle: () => void = () => undefined;

  constructor(options: {
    host: SimulatedHost;
    runId: string;
    entries: readonly WireLogEntry[];
    window: number;
  }) {
    this.#host = options.host;
    this.#runId = options.runId;
    this.#payload = Buffer.from(JSON.stringify(options.entries));
    this.#count = options.entries.length;
    this.#window = options.window;
    options.host.onLogsStored = (_, seq) => this.#acknowledged(seq);
  }

  start(): void {
    this.#isSending = true;
    this.#fill();
  }

  /** Stops sending. Resolves when everything sent is stored. */
  stop(): Promise<void> {
    this.#isSending = false;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.stored === this.#sent) resolve();
    });
  }

  #acknowledged(seq: number): void {
    this.stored = seq;
    if (this.#isSending) this.#fill();
    else if (this.stored === this.#sent) this.#onIdle();
  }

  #fill(): void {
    while (this.#sent - this.stored < this.#window * this.#count) {
      this.#host.sendFrame(logsHeader(this.#runId, this.#sent + 1), this.#payload);
      this.#sent += this.#count;
    }
  }
}
