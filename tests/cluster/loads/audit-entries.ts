import { auditRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { BalancedApi } from '../balanced-api.ts';
import type { Load } from './load.ts';

const Page = Compile(
  Type.Object({
    entries: Type.Array(
      Type.Object({
        action: Type.String(),
        request_id: Type.Union([Type.String(), Type.Null()]),
        details: Type.Record(Type.String(), Type.Unknown()),
      }),
    ),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  }),
);

interface Options {
  api: BalancedApi;
  /** Returns the caller's launch IDs of started launches. */
  launchIds: () => readonly string[];
}

/** Compares acknowledged changes with the audit log: each change has exactly one entry. */
export class AuditEntries implements Load {
  readonly violations: string[] = [];
  readonly counts = { changes: 0 };
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async end(): Promise<void> {}

  async check(): Promise<void> {
    const { api, launchIds } = this.#options;
    const entries = await this.#read();
    for (const [requestId, change] of api.changed)
      this.#requireOne(entries.get(requestId) ?? 0, `${change}, request ${requestId},`);
    for (const launchId of launchIds()) this.#requireOne(entries.get(launchId) ?? 0, `launch ${launchId}`);
  }

  #requireOne(count: number, change: string): void {
    this.counts.changes += 1;
    if (count !== 1) this.violations.push(`${change} was acknowledged, and has ${count} audit entries`);
  }

  /** Counts the entries of each request and of each launch ID. */
  async #read(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    const add = (key: unknown): void => {
      if (typeof key === 'string') counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = `?outcome=done&limit=1000${cursor && `&cursor=${cursor}`}`;
      const { body, text } = await this.#options.api.call('GET', `${auditRoutes.list.path}${query}`);
      if (!Page.Check(body)) throw new Error(`the audit log could not be read: ${text}`);
      for (const { action, request_id, details } of body.entries)
        add(action === 'launch' ? details['launch_id'] : request_id);
      cursor = body.next_cursor;
    }
    return counts;
  }
}
