import { setTimeout as pause } from 'node:timers/promises';
import { accessRoutes, deviceRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { RepeatedWork } from '../../support/repeated-work.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { BalancedApi } from '../balanced-api.ts';
import type { Load } from './load.ts';

const Created = Compile(Type.Object({ secret: Type.String(), token: Type.Object({ id: Type.String() }) }));
/** Time in ms after the reply within which a revoked token must stop working. */
const revokedMs = 1000;

interface Options {
  api: BalancedApi;
  random: SeededRandom;
}

/** User who creates tokens, uses them on all servers, and revokes them. */
export class Tokens implements Load {
  readonly violations: string[] = [];
  readonly counts = { revoked: 0, tried: 0 };
  readonly #options: Options;
  readonly #callers = new RepeatedWork();

  constructor(options: Options) {
    this.#options = options;
    this.#callers.begin(2, () => this.#useAndRevoke());
  }

  end(): Promise<void> {
    return this.#callers.end();
  }

  async check(): Promise<void> {}

  async #useAndRevoke(): Promise<void> {
    const { api, random } = this.#options;
    await pause(random.below(1000));
    const created = await api.call('POST', accessRoutes.createToken.path, {
      name: 'for a moment',
      scopes: ['read'],
    });
    if (!Created.Check(created.body)) return void this.violations.push(`no token was made: ${created.text}`);
    const { secret, token } = created.body;
    await this.#askAll(secret);
    const revoked = await api.call('DELETE', accessRoutes.deleteToken.path.replace(':id', token.id));
    // A repeated request finds the token already deleted.
    if (![200, 404].includes(revoked.status))
      this.violations.push(`a token was not revoked: ${revoked.text}`);
    await pause(revokedMs);
    const statuses = await this.#askAll(secret);
    this.counts.revoked += 1;
    this.counts.tried += statuses.filter((status) => status !== undefined).length;
    if (statuses.includes(200)) this.violations.push(`a token worked ${revokedMs} ms after it was revoked`);
  }

  #askAll(token: string): Promise<(number | undefined)[]> {
    const { api } = this.#options;
    const ask = async (url: string): Promise<number | undefined> =>
      (await api.attempt('GET', deviceRoutes.list.path, undefined, { url, token }))?.status;
    return Promise.all(api.urls.map(ask));
  }
}
