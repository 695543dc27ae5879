import { receiveInheritedSettings } from './start/inherited-settings.ts';
import { receiveStarter } from './start/starter.ts';

/** What this program has left behind as it started anew; undefined: it has not. */
export const validator = receiveInheritedSettings(process.env);

/** The process ID of the wrapper that this process ends with. */
export const starter = receiveStarter(process.env, validator !== undefined);

/** The environment, and the secrets that are no longer in it; nothing else of the CLI reads it. */
export const environment: Readonly<Record<string, string | undefined>> = {
  ...process.env,
  ...validator?.secrets,
};
