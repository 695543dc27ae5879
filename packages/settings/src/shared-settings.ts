import { folder, oneOf } from './formats.ts';
import { setting } from './setting.ts';

export const dataDir = setting({
  name: 'PHALANX_DATA_DIR',
  default: './data',
  description: 'the one folder with everything that lasts; a host keeps its files in its sub folder "host"',
  format: folder,
});

export const logLevel = setting({
  name: 'PHALANX_LOG_LEVEL',
  default: 'info',
  description: "least level of the program's own log, JSON lines on standard output",
  format: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
});
