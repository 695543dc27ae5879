import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { allAttacks } from '../attacks/all-attacks.ts';
import type { Ground } from '../attacks/attack.ts';
import { stopAll } from '../attacks/load-attacks.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { ask, type Api } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';

const Made = Type.Object({ secret: Type.String() });
/** Time in ms for attacks to end after the signal; slower results are not awaited. */
const graceMs = 3000;

let ground: Ground | undefined;
let stop = new AbortController();
let playing: Promise<string>[] = [];

answerParent({
  prepare: command(
    Type.Object({
      url: Type.String(),
      token: Type.String(),
      folder: Type.String(),
      adminToken: Type.String(),
      userId: Type.String(),
      deviceIds: Type.Array(Type.String()),
    }),
    async ({ url, token, folder, adminToken, userId, deviceIds }) => {
      const createToken = async (fields: object): Promise<Api> => {
        const scopes = ['read', 'launch', 'edit', 'host'];
        const asked = { name: 'hostile', user_id: userId, scopes, ...fields };
        return { url, token: (await ask({ url, token: adminToken }, '/api/v2/tokens', Made, asked)).secret };
      };
      const api = { url, token };
      ground = { api, createToken, deviceIds, folder, project: await createProject(api) };
    },
  ),
  /** Runs all these attacks in parallel, each repeated when it has ended, until `end`. */
  begin: command(Type.Object({ names: Type.Array(Type.String()) }), ({ names }) => {
    const target = ground;
    if (target === undefined) throw new Error('prepare comes first');
    stop = new AbortController();
    const { signal } = stop;
    const chosen = allAttacks.filter(({ name }) => names.includes(name));
    playing = chosen.map(async (attack) => {
      let said = 'nothing';
      do said = await attack.play(target, signal).catch((error: unknown) => `failed: ${String(error)}`);
      while (!signal.aborted && (await sleep(100, true)));
      return `${attack.name}: ${said}`;
    });
  }),
  /** Returns the results of all attacks. */
  end: async () => {
    stop.abort();
    const given = sleep(graceMs, 'still under way');
    const answers = await Promise.all(playing.map((each) => Promise.race([each, given])));
    if (ground !== undefined)
      answers.push(
        await stopAll(ground).then(
          () => '',
          (error: unknown) => String(error),
        ),
      );
    return answers.filter(Boolean).map((answer) => answer.slice(0, 300));
  },
});
