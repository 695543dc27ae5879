import { type App, type AppContext, defineApp } from '@phalanx/simulated-phone';

export const playerApp = 'dev.phalanx.bench.player';

const pictureMs = 1000 / 60;
/** Speed and radius in pixels. */
const [speed, radius] = [6, 46];

interface State {
  pictures: number;
}

function play(app: AppContext<State>): void {
  app.after(pictureMs, () => {
    app.change((state) => void (state.pictures += 1))();
    play(app);
  });
}

/**
 * App in constant motion: each picture differs from the last one by about the amount that a phone's encoder sends at
 * 2 Mbit/s.
 */
export const player: App = defineApp<State>({
  packageName: playerApp,
  label: 'Player',
  icon: '',
  color: '#000000',
  state: () => ({ pictures: 0 }),
  onStart: play,
  activities: {
    '.PlayerActivity':
      ({ state }) =>
      (ui, area) => ({
        className: 'android.view.SurfaceView',
        packageName: ui.packageName,
        frame: area,
        paint: (canvas) => {
          canvas.rect(area, '#101010');
          const x = area.left + radius + ((state.pictures * speed) % (area.right - area.left - 2 * radius));
          canvas.circle(x, (area.top + area.bottom) / 2, { radius, fill: '#e0b040' });
        },
      }),
  },
});
