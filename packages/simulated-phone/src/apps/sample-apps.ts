import type { App } from './app.ts';
import { crashApp } from './crash-app.ts';
import { formApp } from './form-app.ts';
import { launcherApp } from './launcher.ts';
import { settingsApp } from './settings-app.ts';
import { surpriseApp } from './surprise-app.ts';

/** The apps of a new simulated phone, in the order of its home screen. */
export const sampleApps: readonly App[] = [launcherApp, settingsApp, formApp, surpriseApp, crashApp];
