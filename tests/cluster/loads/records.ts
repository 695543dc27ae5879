import { setTimeout as pause } from 'node:timers/promises';
import { recordRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { RepeatedWork } from '../../support/repeated-work.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { BalancedApi } from '../balanced-api.ts';
import type { SimulatedHost } from '../simulated-host.ts';
import type { Load } from './load.ts';

const Page = Compile(
  Type.Object({
    total: Type.Integer(),
    result: Type.Union([Type.Object({ status: Type.String() }), Type.Null()]),
  }),
);
const Marked = Compile(Type.Object({ status: Type.String() }));
const verdicts = ['solved', 'skipped', 'solved'] as const;

interface Options {
  api: BalancedApi;
  hosts: readonly SimulatedHost[];
  random: SeededRandom;
}

/** Three users who review the same records concurrently. */
export class Records implements Load {
  readonly violations: string[] = [];
  readonly counts = { records: 0, marked: 0 };
  readonly #options: Options;
  readonly #callers = new RepeatedWork();
  /** Mark acknowledged with 200, by record; empty if the reply was lost. */
  readonly #marked = new Map<string, string>();

  constructor(options: Options) {
    this.#options = options;
    this.#callers.begin(1, () => this.#review());
  }

  end(): Promise<void> {
    return this.#callers.end();
  }

  async check(): Promise<void> {
    const told = this.#options.hosts.flatMap((host) => [...host.records.keys()]);
    this.counts.records = told.length;
    const { total } = await this.#read('');
    if (total !== told.length)
      this.violations.push(`hosts told of ${told.length} records, and ${total} are there`);
    for (const [id, marked] of this.#marked) {
      const { status } = await this.#read(`?cursor=${id}`);
      if (status === 'pending' || (marked !== '' && status !== marked))
        this.violations.push(`record ${id} was marked as ${marked || 'something'}, and is ${status}`);
    }
  }

  async #read(query: string): Promise<{ total: number; status: string | undefined }> {
    const { body, text } = await this.#options.api.call('GET', `${recordRoutes.list.path}${query}`);
    if (Page.Check(body)) return { total: body.total, status: body.result?.status };
    this.violations.push(`a record could not be read: ${text}`);
    return { total: -1, status: undefined };
  }

  async #review(): Promise<void> {
    const { hosts, random } = this.#options;
    await pause(random.below(300));
    const stored = hosts
      .flatMap((host) => [...host.records])
      .filter(([id, isStored]) => isStored && !this.#marked.has(id));
    const [id] = stored.length === 0 ? [] : random.pick(stored);
    if (id === undefined) return;
    this.#marked.set(id, '');
    const path = recordRoutes.mark.path.replace(':id', id);
    const replies = await Promise.all(
      verdicts.map((status) => this.#options.api.call('PATCH', path, { status })),
    );
    const done = replies.filter(({ status }) => status === 200);
    const refused = replies.filter(({ text }) => text.includes('"record_already_marked"'));
    if (done.length > 1 || done.length + refused.length < replies.length)
      this.violations.push(
        `the marks of record ${id} were answered with ${replies.map(({ text }) => text).join(' ')}`,
      );
    const [first] = done;
    if (Marked.Check(first?.body)) this.#marked.set(id, first.body.status);
    this.counts.marked += done.length;
  }
}
