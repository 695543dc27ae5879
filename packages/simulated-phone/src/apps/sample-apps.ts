import { button } from '../widgets/button.ts';
import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { text } from '../widgets/text.ts';
import { type App, defineApp } from '../view/app.ts';
import { formApp } from './form-app.ts';
import { launcherApp } from './launcher.ts';
import { settingsApp } from './settings-app.ts';
import { surpriseApp } from './surprise-app.ts';

const crashDelayMs = 1500;

/** Dies when told to. */
const crashApp = defineApp({
  packageName: 'dev.phalanx.sample.crash',
  label: 'Crash',
  icon: icons.bomb,
  color: '#ba1a1a',
  state: () => ({}),
  activities: {
    '.CrashActivity': (app) =>
      page({
        title: 'Crash',
        rows: [
          text('These buttons end the app with an uncaught exception.', { padding: { x: 24, y: 16 } }),
          button({ id: 'crash_now', label: 'Crash now', onTap: () => app.crash() }),
          button({
            id: 'crash_later',
            label: 'Crash later',
            look: 'tonal',
            onTap: () => app.after(crashDelayMs, () => app.crash()),
          }),
        ],
      }),
  },
});

/** The apps of a new simulated phone, in the order of its home screen. */
export const sampleApps: readonly App[] = [launcherApp, settingsApp, formApp, surpriseApp, crashApp];
