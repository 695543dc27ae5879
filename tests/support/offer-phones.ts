import { defineApp, sampleApps, startSimulatedPhone, type App, type View } from '@phalanx/simulated-phone';

const offerPackage = 'dev.phalanx.test.offers';

/** Texts of an offer in the languages of the phones. */
const words = {
  en: { title: 'A year for half the price', accept: 'Buy', refuse: 'No, thank you', next: 'Next' },
  de: { title: 'Ein Jahr zum halben Preis', accept: 'Kaufen', refuse: 'Nein, danke', next: 'Weiter' },
  ja: { title: '一年間半額', accept: '購入', refuse: 'いいえ', next: '次へ' },
} as const;

/** Screens of a small phone, a typical phone and a tablet. */
const kinds = [
  { language: 'en', display: { width: 1080, height: 2400, density: 420 } },
  { language: 'de', display: { width: 720, height: 1280, density: 320 } },
  { language: 'ja', display: { width: 1600, height: 2560, density: 320 } },
] as const;

interface Gate {
  isOpen: boolean;
  redraw: () => void;
}

/** App that shows an offer after the second step, which the automation does not handle. */
function offerApp({ title, accept, refuse, next }: (typeof words)[keyof typeof words], gate: Gate): App {
  return defineApp({
    packageName: offerPackage,
    label: 'Offers',
    icon: 'M0 0h24v24H0z',
    color: '#204060',
    state: () => ({ steps: 0, refused: false }),
    onStart: (context) => void (gate.redraw = context.change(() => undefined)),
    activities: {
      '.OfferActivity': (app) => (ui, area) => {
        const step = app.change((state) => void (state.steps += 1));
        const refuseIt = app.change((state) => void (state.refused = true));
        const { steps, refused } = app.state;
        const row = (at: number, id: string, text: string, onTap?: () => void): View => ({
          className: `android.widget.${onTap === undefined ? 'TextView' : 'Button'}`,
          packageName: ui.packageName,
          resourceId: `${ui.packageName}:id/${id}`,
          text,
          onTap,
          frame: { ...area, top: area.top + ui.dp(60 * at), bottom: area.top + ui.dp(60 * at + 50) },
        });
        const offer = [
          row(0, 'offer_title', title),
          row(1, 'accept', accept, step),
          row(2, 'not_now', refuse, refuseIt),
        ];
        const home = [row(0, 'step_count', `${steps}`), row(1, 'next', next, step)];
        const rows = !gate.isOpen
          ? [row(0, 'closed', '…')]
          : steps === 2 && !refused
            ? offer
            : steps > 3
              ? [row(0, 'finished', '✓')]
              : home;
        return {
          className: 'android.widget.FrameLayout',
          packageName: ui.packageName,
          frame: area,
          children: rows,
        };
      },
    },
  });
}

/**
 * Starts three phones of three sizes and languages in this process, with an app that the automation knows only
 * partly.
 */
export async function startOfferPhones() {
  const started = await Promise.all(
    kinds.map(async ({ language, display }, index) => {
      const gate: Gate = { isOpen: true, redraw: () => undefined };
      const apps = [...sampleApps, offerApp(words[language], gate)];
      const phone = await startSimulatedPhone({ serial: `OFFER${index + 1}`, display, apps });
      return { phone, gate };
    }),
  );
  return {
    settings: { PHALANX_PHONES: started.map(({ phone }) => `${phone.host}:${phone.port}`).join(',') },
    /** Opens or closes the gate. While closed, the app of the first phone shows only the gate. */
    setGate(isOpen: boolean): void {
      const gate = started[0]?.gate;
      if (gate === undefined) return;
      gate.isOpen = isOpen;
      gate.redraw();
    },
    stop: async (): Promise<void> => {
      await Promise.all(started.map(({ phone }) => phone.stop()));
    },
  };
}

/** Code that takes the steps of that app and does not recognize its offer. */
export const offerCode = `enum State {
  Unknown = 'Unknown',
  Launcher = 'Launcher',
  Closed = 'Closed',
  Home = 'Home',
  Finished = 'Finished',
}

function recognise(screen: AndroidNode): State {
  if (screen.findById('finished')) return State.Finished;
  if (screen.findById('next')) return State.Home;
  if (screen.findById('closed')) return State.Closed;
  if (screen.findById('workspace')) return State.Launcher;
  return State.Unknown;
}

await agent.actions.stopApp('${offerPackage}');
await agent.actions.home();
await runStages<State>({
  states: recognise,
  maxSteps: 2000,
  maxUnknownLooks: 2,
  pauseMs: 200,
  stages: [
    {
      name: 'four steps',
      reached: State.Finished,
      on: {
        [State.Launcher]: () => agent.actions.launchApp('${offerPackage}'),
        [State.Home]: (screen) => screen.findById('next')?.tap(),
      },
    },
  ],
});
`;
