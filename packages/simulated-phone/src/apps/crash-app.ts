import { button } from '../widgets/button.ts';
import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { text } from '../widgets/text.ts';
import { defineApp } from './app.ts';

const crashDelayMs = 1500;

/** Dies when told to. */
export const crashApp = defineApp({
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
