import { pino, type Logger } from 'pino';

import type { ServerConfig } from './config.ts';

/** Where there are several servers, each line names its own. */
export function openLog({ natsUrls, nodeName, logLevel }: ServerConfig): Logger {
  if (natsUrls === undefined) return pino({ level: logLevel });
  return pino({ level: logLevel, base: { pid: process.pid, node: nodeName } });
}
