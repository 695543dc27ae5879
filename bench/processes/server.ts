import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startServer } from '@phalanx/server';
import { parseServerConfig } from '@phalanx/server/config';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { noConfinement } from '../harness/no-confinement.ts';

/** Resolution of the timer that measures the delay; part of every value. */
const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });

/** Longer than the timer's own work, and shorter than what anybody waits for. */
const lookEveryMs = 1;

/**
 * The most processor time between two looks of a timer: what others wait for who come in between. Unlike a delay, it says
 * nothing of what else the machine does.
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
        // Rows measure what the server can do, not what one user may ask of it.
        PHALANX_REQUESTS_PER_SECOND: '100000',
        PHALANX_LOG_KB_PER_SECOND: '1000000',
        ...settings,
      });
      return (await startServer(config, unconfined ? { confinement: await noConfinement() } : {})).url;
    },
  ),
  /** Watches the event loop until `readStretch`. */
  watchStretch: () => {
    Object.assign(stretch, { longestMs: 0, usedMs: threadMs(), timer: setInterval(look, lookEveryMs) });
  },
  /** The longest, in ms of processor time. */
  readStretch: () => {
    clearInterval(stretch.timer);
    return stretch.longestMs;
  },
  /** Watches the delay of the event loop until `readDelay`. */
  watchDelay: () => {
    delay.reset();
    delay.enable();
  },
  /** In ms, beyond what the timer takes. */
  readDelay: () => {
    delay.disable();
    const beyondTimer = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);
    return { p99Ms: beyondTimer(delay.percentile(99)), maxMs: beyondTimer(delay.max) };
  },
});
