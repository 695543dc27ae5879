import { logLevels, maxLogMessageLength, type SandboxLogEntry, type WireLogEntry } from '@phalanx/protocol';

import type { ServiceClock } from '../connection/service-clock.ts';

/** A time further away than this from the host's own was made up by the run's process. */
const maxAgeMs = 60 * 60 * 1000;
const maxLineNumber = 2 ** 31 - 1;

/** One entry as it is stored and sent. The entry comes from a process that runs user code: nothing in it is trusted. */
export function encodeLogEntry(entry: SandboxLogEntry, clock: ServiceClock): string {
  const { level, lineNumber, message, path } = entry;
  const wire: WireLogEntry = [
    clock.toService(believableTime(entry.timestamp)),
    logLevels.indexOf(level),
    Math.min(lineNumber, maxLineNumber),
    message.slice(0, maxLogMessageLength),
  ];
  return JSON.stringify(path === null ? wire : [...wire, path]);
}

function believableTime(timestampMs: number): number {
  const nowMs = Date.now();
  return timestampMs >= nowMs - maxAgeMs && timestampMs <= nowMs ? timestampMs : nowMs;
}
