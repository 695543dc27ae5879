import type { Ui, Widget } from './view.ts';

export interface Dialog {
  readonly title: string;
  readonly message: string;
  /** At most three; the last one is the confirming one. */
  readonly buttons: readonly { readonly label: string; readonly onTap?: () => void }[];
  /** Whether back and a tap outside close it. Default: true. */
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

/** The calls of an app to its phone. Every call redraws the screen. */
export interface AppHost {
  readonly phone: PhoneInfo;
  /** Storage of the phone. */
  storage(): { readonly sizeBytes: number; readonly freeBytes: number };
  /** Switches that stay when the app ends, until its data is cleared. */
  readonly preferences: Map<string, boolean>;
  /** Starts another activity of this app above the current one. */
  open(activity: string): void;
  /** Ends the current activity, as the up arrow does. */
  finish(): void;
  showDialog(dialog: Dialog): void;
  /** A line of text that goes away by itself. */
  showToast(text: string): void;
  /** Text of a field of the current activity. */
  fieldText(name: string): string;
  setFieldText(name: string, text: string): void;
  /** Runs later, unless the app is ended before. */
  after(delayMs: number, action: () => void): void;
  /** The app dies of an uncaught exception; the system says so in a dialog. */
  crash(): void;
  startApp(packageName: string): void;
  listLaunchable(): readonly LaunchableApp[];
}

export interface AppContext<State> extends AppHost {
  readonly state: State;
  /** Applies a change to the state and redraws. For the handlers of widgets. */
  change(mutate: (state: State) => void): () => void;
}

export interface LaunchableApp {
  readonly packageName: string;
  readonly label: string;
  readonly icon: string;
  readonly color: string;
}

/** An app as the phone knows it. */
export interface App extends LaunchableApp {
  readonly versionName: string;
  readonly versionCode: number;
  /** Class names of its activities, with a leading dot; the first one is launched. */
  readonly activities: readonly string[];
  readonly isHome: boolean;
  /** Beginnings of the addresses that the app opens. */
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

/** Declares an app: its state, and for each activity what it shows for a state. */
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
