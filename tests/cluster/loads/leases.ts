import { setTimeout as pause } from 'node:timers/promises';
import { accessRoutes, deviceControlRoutes, deviceMemberRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { RepeatedWork } from '../../support/repeated-work.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { BalancedApi } from '../balanced-api.ts';
import type { Load } from './load.ts';

const User = Compile(Type.Object({ user: Type.Object({ id: Type.String() }) }));
const Lease = Compile(Type.Object({ lease: Type.Object({ lease_id: Type.String() }) }));
const Token = Compile(Type.Object({ secret: Type.String() }));
const leaseMs = 6000;
/** Margin in ms for differences between the clocks of servers. */
const marginMs = 1000;
const tries = 3;

interface Options {
  api: BalancedApi;
  deviceIds: readonly string[];
  random: SeededRandom;
}

/** One user leases devices while another sends them input through any server. */
export class Leases implements Load {
  readonly violations: string[] = [];
  readonly counts = { leases: 0, touches: 0, taken: 0 };
  readonly #options: Options;
  readonly #holder: string;
  readonly #callers = new RepeatedWork();
  /**
   * IDs of leases with an unacknowledged request to end them, which may take effect at any time, even after an
   * extension.
   */
  readonly #endingIds = new Set<string>();

  private constructor(options: Options, holder: string) {
    this.#options = options;
    this.#holder = holder;
    this.#callers.begin(1, () => this.#holdOne());
  }

  /** Starts the load. The holder is a user with whom all phones are shared. */
  static async begin(options: Options): Promise<Leases> {
    const { api, deviceIds } = options;
    const { body: made } = await api.call('POST', accessRoutes.createUser.path, { name: 'holder' });
    if (!User.Check(made)) throw new Error('no user was made');
    const { id } = made.user;
    const { body } = await api.call('POST', accessRoutes.createToken.path, { name: 'holder', user_id: id });
    if (!Token.Check(body)) throw new Error('no token was made');
    for (const deviceId of deviceIds) {
      const place = deviceMemberRoutes.putMember.path.replace(':id', deviceId).replace(':user_id', id);
      await api.call('PUT', place, { role: 'launch' });
    }
    return new Leases(options, body.secret);
  }

  end(): Promise<void> {
    return this.#callers.end();
  }

  async check(): Promise<void> {}

  async #holdOne(): Promise<void> {
    const { api, deviceIds, random } = this.#options;
    await pause(random.below(500));
    const place = deviceControlRoutes.lease.path.replace(':id', random.pick(deviceIds));
    const asHolder = { token: this.#holder };
    // A frozen server may reply after most of the lease has passed.
    const heldUntil = performance.now() + leaseMs - marginMs;
    const lease = await api.attempt('POST', place, { duration_ms: leaseMs }, asHolder);
    if (lease?.status !== 200 || !Lease.Check(lease.body)) return;
    const id = lease.body.lease.lease_id;
    if (this.#endingIds.has(id)) return;
    this.counts.leases += 1;
    for (let no = 0; no < tries; no += 1) await this.#touch(place, heldUntil);
    // Sends the ID, so that a request that a frozen server handles late does not end the next lease.
    this.#endingIds.add(id);
    const ended = await api.attempt('DELETE', `${place}?lease_id=${id}`, undefined, asHolder);
    if (ended !== undefined) this.#endingIds.delete(id);
  }

  async #touch(place: string, heldUntil: number): Promise<void> {
    const input = place.replace(/lease$/, 'input');
    const reply = await this.#options.api.attempt('POST', input, { type: 'tap', x: 1, y: 1 });
    this.counts.touches += 1;
    if (reply?.status !== 200) return;
    this.counts.taken += 1;
    if (performance.now() < heldUntil)
      this.violations.push(`input was taken by ${input}, which another user has leased: ${reply.text}`);
  }
}
