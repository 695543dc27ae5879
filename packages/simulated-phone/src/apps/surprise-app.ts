import { button } from '../widgets/button.ts';
import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { text } from '../widgets/text.ts';
import { type AppContext, defineApp, type Dialog } from '../view/app.ts';

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

/** Interrupts its user: with a dialog at every third tap, and a while after being asked to. */
export const surpriseApp = defineApp<SurpriseState>({
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
