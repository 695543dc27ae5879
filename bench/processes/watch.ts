import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { askText } from '../http/api.ts';

const everyMs = 5;
const state = { isWatching: false, longestMs: 0 };
let watching: Promise<void> = Promise.resolve();

answerParent({
  /** Reads repeatedly, as an uninvolved user. */
  begin: command(Type.Object({ url: Type.String(), token: Type.String() }), (api) => {
    Object.assign(state, { isWatching: true, longestMs: 0 });
    watching = (async () => {
      while (state.isWatching) {
        const begunAt = performance.now();
        await askText(api, '/api/v2/devices');
        state.longestMs = Math.max(state.longestMs, performance.now() - begunAt);
        await sleep(everyMs);
      }
    })();
  }),
  /** Returns the longest latency in ms. */
  end: async () => {
    state.isWatching = false;
    await watching;
    return state.longestMs;
  },
});
