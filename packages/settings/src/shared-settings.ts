import { folder, oneOf, trueOrFalse } from './formats.ts';
import { setting } from './setting.ts';

export const dataDir = setting({
  name: 'PHALANX_DATA_DIR',
  default: './data',
  description: 'the folder with all data; a host uses its subfolder "host"',
  format: folder,
});

export const logLevel = setting({
  name: 'PHALANX_LOG_LEVEL',
  default: 'info',
  description: "lowest level of the program's own log, on standard output",
  format: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
});

export const requireConfinement = setting({
  name: 'PHALANX_REQUIRE_CONFINEMENT',
  default: 'false',
  description:
    'whether to refuse to start where the operating system cannot confine user code and the processes that read it',
  format: trueOrFalse,
});
