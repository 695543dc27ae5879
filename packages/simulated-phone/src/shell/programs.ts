import type { Program } from './program.ts';
import { am, monkey } from './programs/am.ts';
import { appProcess } from './programs/app-process.ts';
import { cmd, appops, service } from './programs/service-commands.ts';
import { content } from './programs/content.ts';
import { dumpsys } from './programs/dumpsys.ts';
import { filePrograms } from './programs/file-programs.ts';
import { ime, settings } from './programs/settings.ts';
import { input } from './programs/input.ts';
import { pm } from './programs/pm.ts';
import { plainPrograms } from './programs/plain-programs.ts';
import { screencap, uiautomator } from './programs/screen-programs.ts';
import { textPrograms } from './programs/text-programs.ts';
import { wm } from './programs/wm.ts';

/** Every program of the phone's shell by its name. */
export const programs: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...plainPrograms,
  ...filePrograms,
  ...textPrograms,
  ['am', am],
  ['app_process', appProcess],
  ['appops', appops],
  ['cmd', cmd],
  ['content', content],
  ['dumpsys', dumpsys],
  ['ime', ime],
  ['input', input],
  ['monkey', monkey],
  ['pm', pm],
  ['screencap', screencap],
  ['service', service],
  ['settings', settings],
  ['uiautomator', uiautomator],
  ['wm', wm],
]);
