// Fills in a form stage by stage, and on the way back meets a screen that it does not know. That is on purpose: the run
// then leaves an out-of-steps record, with the last screens and their pictures, to see what there is to see of it.

/** Every screen that this automation knows. */
enum ScreenState {
  Unknown = 'Unknown',
  CrashDialog = 'CrashDialog',
  RateDialog = 'RateDialog',
  HomeScreen = 'HomeScreen',
  SurpriseApp = 'SurpriseApp',
  CrashApp = 'CrashApp',
  FormEmpty = 'FormEmpty',
  FormNamed = 'FormNamed',
}

const apps = {
  surprise: 'dev.phalanx.sample.surprise',
  crash: 'dev.phalanx.sample.crash',
  form: 'dev.phalanx.sample.form',
};

/** Ids before texts: they are the same in every language. */
function detectScreenState(screen: AndroidNode): ScreenState {
  if (screen.findById('tap_me')) return ScreenState.SurpriseApp;
  if (screen.findById('crash_now')) return ScreenState.CrashApp;
  const name = screen.findById('name');
  if (name) return name.text && !name.isShowingHintText ? ScreenState.FormNamed : ScreenState.FormEmpty;
  if (screen.findById('workspace') || screen.packageName.includes('launcher')) return ScreenState.HomeScreen;
  return ScreenState.Unknown;
}

const tap = (viewId: string) => (screen: AndroidNode) => screen.findById(viewId)?.tap();
let taps = 0;

const result = await runStages<ScreenState>({
  states: detectScreenState,
  maxSteps: 40,
  maxUnknownLooks: 4,
  dialogs: [
    {
      name: ScreenState.CrashDialog,
      when: { id: 'android:id/aerr_close' },
      do: tap('android:id/aerr_close'),
    },
    {
      name: ScreenState.RateDialog,
      when: { id: 'android:id/alertTitle', text: 'Enjoying this app?' },
      do: (screen) => screen.findTextOne('Later')?.tap(),
    },
  ],
  stages: [
    {
      // Every third tap brings up a dialog, which is dealt with above.
      name: 'four taps',
      reached: ScreenState.CrashApp,
      on: {
        [ScreenState.HomeScreen]: () => agent.actions.launchApp(apps.surprise),
        [ScreenState.SurpriseApp]: async (screen) => {
          if (taps === 4) return agent.actions.launchApp(apps.crash);
          taps += 1;
          await screen.findById('tap_me')?.tap();
        },
        [ScreenState.FormEmpty]: () => agent.actions.home(),
        [ScreenState.FormNamed]: () => agent.actions.stopApp(apps.form),
        [ScreenState.Unknown]: () => agent.actions.home(),
      },
    },
    {
      // The app dies when it is told to, and Android says so in a dialog, which is dealt with above, too.
      name: 'home after a crash',
      reached: ScreenState.HomeScreen,
      on: { [ScreenState.CrashApp]: tap('crash_now') },
    },
    {
      name: 'form with a name',
      reached: ScreenState.FormNamed,
      on: {
        [ScreenState.HomeScreen]: () => agent.actions.launchApp(apps.form),
        [ScreenState.FormEmpty]: async (screen) => {
          await screen.findById('name')?.writeText('Ada Lovelace', { clear: true });
        },
      },
    },
    {
      // Nobody has told this automation of the settings.
      name: 'back in the surprise app',
      reached: ScreenState.SurpriseApp,
      on: { [ScreenState.FormNamed]: () => agent.actions.launchApp('com.android.settings') },
    },
  ],
});

console.log(`Used ${result.usedSteps} steps`);
if (!result.success) {
  console.warn(result.error);
  console.log(`The record ${result.recordId} shows the screens.`);
}

export {};
