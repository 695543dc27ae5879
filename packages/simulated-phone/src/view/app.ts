import type { Ui, Widget } from './view.ts';

export interface Dialog {
  readonly title: string;
  readonly message: string;
  /** Buttons, at most three; the last one confirms. */
  readonly buttons: readonly { readonly label: string; readonly onTap?: () => void }[];
  /** Whether Back and a tap outside close it. Default: true. */
  readonly cancelable?: boolean;
  /** Whether Compose draws it, which gives its nodes no IDs. Default: false. */
  readonly isCompose?: boolean;
}

export interface PhoneInfo {
  readonly brand: string;
  readonly model: string;
  readonly androidVersion: string;
  readonly serial: string;
}

/** Calls of an app to its phone. Every call redraws the screen. */
export interface AppHost {
  readonly phone: PhoneInfo;
  /** Returns the storage of the phone. */
  storage(): { readonly sizeBytes: number; readonly freeBytes: number };
  /** Switches that survive the end of the app, until its data is cleared. */
  readonly preferences: Map<string, boolean>;
  /** Starts another activity of this app above the current one. */
  open(activity: string): void;
  /** Ends the current activity, like the up arrow. */
  finish(): void;
  showDialog(dialog: Dialog): void;
  /** Shows a line of text that disappears by itself. */
  showToast(text: string): void;
  /** Returns the text of a field of the current activity. */
  fieldText(name: string): string;
  setFieldText(name: string, text: string): void;
  /** Schedules an action, which the end of the app cancels. */
  after(delayMs: number, action: () => void): void;
  /** Crashes the app with an uncaught exception, which the system reports in a dialog. */
  crash(): void;
  startApp(packageName: string): void;
  listLaunchable(): readonly LaunchableApp[];
}

export interface AppContext<State> extends AppHost {
  readonly state: State;
  /** Returns a handler for widgets that changes the state and redraws. */
  change(mutate: (state: State) => void): () => void;
}

export interface LaunchableApp {
  readonly packageName: string;
  readonly label: string;
  readonly icon: string;
  readonly color: string;
}

/** App as known to the phone. */
export interface App extends LaunchableApp {
  readonly versionName: string;
  readonly versionCode: number;
  /** Class names of its activities, with a leading dot; the first one is the launcher. */
  readonly activities: readonly string[];
  readonly isHome: boolean;
  /** Prefixes of the addresses that the app opens. */
  readonly links: readonly string[];
  launch(host: AppHost, redraw: () => void): RunningApp;
}

export interface RunningApp {
  body(activity: string): Widget;
}

export interface AppDefinition<State> extends LaunchableApp {
  readonly versionName?: string;
  readonly versionCode?: number;
  readonly isHome?: boolean;
  readonly links?: readonly string[];
  readonly state: () => State;
  readonly activities: Readonly<Record<string, (app: AppContext<State>) => Widget>>;
  /** Called once when the app's process starts. */
  readonly onStart?: (app: AppContext<State>) => void;
}

/** Declares an app: its state, and the content of each activity for a state. */
export function defineApp<State>(definition: AppDefinition<State>): App {
  return {
    packageName: definition.packageName,
    label: definition.label,
    icon: definition.icon,
    color: definition.color,
    versionName: definition.versionName ?? '1.0',
    versionCode: definition.versionCode ?? 1,
    isHome: definition.isHome ?? false,
    links: definition.links ?? [],
    activities: Object.keys(definition.activities),
    launch(host, redraw) {
      const state = definition.state();
      const change = (mutate: (value: State) => void) => () => {
        mutate(state);
        redraw();
      };
      const context: AppContext<State> = { ...host, state, change };
      definition.onStart?.(context);
      return {
        body: (activity): Widget => {
          const build = definition.activities[activity];
          return (ui: Ui, area) => {
            if (!build) throw new Error(`${definition.packageName} has no activity ${activity}.`);
            return build(context)(ui, area);
          };
        },
      };
    },
  };
}
