import { type App, defineApp } from '@phalanx/simulated-phone';

export const largeApp = 'dev.phalanx.bench.large';

const columns = 30;

/** Returns an app whose screen has this number of nodes, each with an ID and a text; the first shows the counter. */
export const largeAppOf = (nodes: number, counted = { readings: 0 }): App =>
  defineApp({
    packageName: largeApp,
    label: 'Large',
    icon: '',
    color: '#000000',
    state: () => ({}),
    activities: {
      '.LargeActivity': () => (ui, area) => {
        const [width, height] = [36, 40];
        const children = Array.from({ length: nodes }, (_, at) => {
          const left = area.left + (at % columns) * width;
          const top = area.top + Math.floor(at / columns) * height;
          return {
            className: 'android.widget.TextView',
            packageName: ui.packageName,
            frame: { left, top, right: left + width, bottom: top + height },
            text: at === 0 ? `Reading ${counted.readings}` : `Item ${at}`,
            resourceId: `${ui.packageName}:id/item_${at}`,
          };
        });
        return {
          className: 'android.widget.FrameLayout',
          packageName: ui.packageName,
          frame: area,
          children,
        };
      },
    },
  });
