import { button } from '../widgets/button.ts';
import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { text, textLine } from '../widgets/text.ts';
import { type App, defineApp, type AppContext, type Dialog, type LaunchableApp } from '../view/app.ts';
import { formApp } from './form-app.ts';
import { settingsApp } from './settings-app.ts';
import { palette } from '../view/palette.ts';
import type { View, Area, Ui } from '../view/view.ts';

const launcherPackage = 'dev.phalanx.sample.launcher';
const launcherColumns = 4;

function appIcon(ui: Ui, cell: Area, app: LaunchableApp & { onTap: () => void }): View {
  const size = ui.dp(60);
  const middle = (cell.left + cell.right) >> 1;
  const tile = {
    left: middle - (size >> 1),
    right: middle + (size >> 1),
    top: cell.top + ui.dp(8),
    bottom: cell.top + ui.dp(8) + size,
  };
  const label = { ...cell, top: tile.bottom + ui.dp(4), bottom: tile.bottom + ui.dp(24) };
  const drawn = textLine(ui, label, { text: app.label, size: 13, align: 'center', color: palette.onPrimary });
  return {
    ...drawn,
    frame: cell,
    description: app.label,
    onTap: app.onTap,
    paint: (canvas) => {
      canvas.rect(tile, '#ffffff', ui.dp(18));
      const inner = ui.dp(34);
      const at = { left: middle - inner / 2, top: tile.top + (size - inner) / 2, size: inner };
      canvas.icon(app.icon, at, app.color);
      drawn.paint?.(canvas);
    },
  };
}

/** Home screen: a grid of the installed apps. */
const launcherApp = defineApp({
  packageName: launcherPackage,
  label: 'Launcher',
  icon: icons.apps,
  color: palette.primary,
  isHome: true,
  state: () => ({}),
  activities: {
    '.Launcher': (app) => (ui, area) => {
      const width = Math.floor((area.right - area.left) / launcherColumns);
      const top = area.top + ui.dp(160);
      const cells = app.listLaunchable().map((other, index) => {
        const left = area.left + (index % launcherColumns) * width;
        const cellTop = top + Math.floor(index / launcherColumns) * ui.dp(112);
        const cell = { left, right: left + width, top: cellTop, bottom: cellTop + ui.dp(104) };
        return appIcon(ui, cell, { ...other, onTap: () => app.startApp(other.packageName) });
      });
      const date = {
        left: area.left + ui.dp(28),
        right: area.right,
        top: area.top + ui.dp(48),
        bottom: area.top + ui.dp(96),
      };
      return {
        className: 'android.view.ViewGroup',
        packageName: launcherPackage,
        resourceId: `${launcherPackage}:id/workspace`,
        frame: area,
        paint: (canvas) => {
          canvas.rect({ left: 0, right: 1e5, top: 0, bottom: 1e5 }, '#4a6a8f');
          canvas.rect({ left: 0, right: 1e5, top: area.bottom * 0.66, bottom: 1e5 }, '#3b5878');
        },
        children: [
          textLine(ui, date, { text: app.phone.model, id: 'date', size: 26, color: palette.onPrimary }),
          ...cells,
        ],
      };
    },
  },
});

interface SurpriseState {
  taps: number;
  doubleTaps: number;
  longPresses: number;
  answer: string;
}

const tapsBeforeDialog = 3;
const dialogDelayMs = 1500;

function rateDialog(app: AppContext<SurpriseState>): Dialog {
  const answerWith = (answer: string) => app.change((state) => void (state.answer = answer));
  return {
    title: 'Enjoying this app?',
    message: 'A short review helps other people to find it. It takes less than a minute.',
    buttons: [
      { label: 'Never', onTap: answerWith('never') },
      { label: 'Later', onTap: answerWith('later') },
      { label: 'Rate', onTap: answerWith('rate') },
    ],
  };
}

function countTap(app: AppContext<SurpriseState>): () => void {
  return () => {
    app.change((state) => void (state.taps += 1))();
    if (app.state.taps % tapsBeforeDialog === 0) app.showDialog(rateDialog(app));
  };
}

/** Interrupts its user with dialogs: at every third tap, and a while after a button was tapped. */
const surpriseApp = defineApp<SurpriseState>({
  packageName: 'dev.phalanx.sample.surprise',
  label: 'Surprise',
  icon: icons.touch,
  color: '#8a4a1f',
  state: () => ({ taps: 0, doubleTaps: 0, longPresses: 0, answer: 'none' }),
  activities: {
    '.SurpriseActivity': (app) => {
      const { taps, doubleTaps, longPresses, answer } = app.state;
      return page({
        title: 'Surprise',
        rows: [
          text('Every third tap asks for a review.', { padding: { x: 24, y: 16 } }),
          button({ id: 'tap_me', label: 'Tap me', onTap: countTap(app) }),
          text(`Taps: ${taps}`, { id: 'tap_count', size: 18 }),
          button({
            id: 'gestures',
            label: 'Double tap or hold me',
            look: 'tonal',
            onTap: () => {},
            onDoubleTap: app.change((state) => void (state.doubleTaps += 1)),
            onLongPress: app.change((state) => void (state.longPresses += 1)),
          }),
          text(`Double taps: ${doubleTaps}`, { id: 'double_tap_count', size: 18 }),
          text(`Long presses: ${longPresses}`, { id: 'long_press_count', size: 18 }),
          button({
            id: 'later',
            label: 'Ask me later',
            look: 'tonal',
            onTap: () => app.after(dialogDelayMs, () => app.showDialog(rateDialog(app))),
          }),
          text(`Answer: ${answer}`, { id: 'answer', size: 18 }),
        ],
      });
    },
  },
});

const crashDelayMs = 1500;

/** Crashes on request. */
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

/** Apps of a new simulated phone, in the order of its home screen. */
export const sampleApps: readonly App[] = [launcherApp, settingsApp, formApp, surpriseApp, crashApp];
