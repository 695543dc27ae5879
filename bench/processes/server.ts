import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startServer } from '@phalanx/server';
import { parseServerConfig } from '@phalanx/server/config';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { noConfinement } from '../harness/no-confinement.ts';

/** Resolution in ms of the timer that measures the delay; included in every value. */
const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });

/** Timer interval in ms: longer than the timer's own work, and shorter than any noticeable delay. */
const lookEveryMs = 1;

/**
 * Longest processor time between two timer calls, which others have to wait for. Unlike a delay, it is independent of
 * other load on the machine.
 */
const stretch = { longestMs: 0, usedMs: 0, timer: undefined as NodeJS.Timeout | undefined };

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function look(): void {
  const usedMs = threadMs();
  stretch.longestMs = Math.max(stretch.longestMs, usedMs - stretch.usedMs);
  stretch.usedMs = usedMs;
}

answerParent({
  /** Starts the product's server with the product's defaults. Returns its address. */
  listen: command(
    Type.Object({
      dataDir: Type.String(),
      token: Type.String(),
      unconfined: Type.Optional(Type.Boolean()),
      settings: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
    async ({ dataDir, token, settings, unconfined = false }) => {
      const config = parseServerConfig({
        PHALANX_LISTEN: '127.0.0.1:0',
        PHALANX_DATA_DIR: dataDir,
        PHALANX_ADMIN_TOKEN: token,
        PHALANX_LOG_LEVEL: 'warn',
        // Rows measure the capacity of the server, not the rate limit of a user.
        PHALANX_REQUESTS_PER_SECOND: '100000',
        PHALANX_LOG_KB_PER_SECOND: '1000000',
        ...settings,
      });
      return (await startServer(config, unconfined ? { confinement: await noConfinement() } : {})).url;
    },
  ),
  /** Starts watching the event loop until `readStretch`. */
  watchStretch: () => {
    Object.assign(stretch, { longestMs: 0, usedMs: threadMs(), timer: setInterval(look, lookEveryMs) });
  },
  /** Returns the longest stretch, in ms of processor time. */
  readStretch: () => {
    clearInterval(stretch.timer);
    return stretch.longestMs;
  },
  /** Starts watching the delay of the event loop until `readDelay`. */
  watchDelay: () => {
    delay.reset();
    delay.enable();
  },
  /** Returns the delay in ms, without the timer's own. */
  readDelay: () => {
    delay.disable();
    const beyondTimer = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);
    return { p99Ms: beyondTimer(delay.percentile(99)), maxMs: beyondTimer(delay.max) };
  },
});
