/**
 * Leads an app through stages, and tells the whole story when that fails. The runner reads the screen,
 * recognises its state, stores it for a record (`agent.utils.outOfSteps`), and performs the action of the
 * present stage for that state. It repeats this until the last stage is reached, or steps, time or the allowed
 * unknown screens run out: then it submits a record, and the run's `outcome` is `out_of_steps` (or
 * `timed_out`), unless a later `runStages` reaches its last stage.
 *
 * An error that an action throws is not caught: it rejects the promise. Uncaught, it ends the run, and the host
 * makes a `crash` record of the same screens.
 *
 * @example
 * await agent.actions.stopApp('com.android.settings');
 * const { success, error } = await runStages({
 *   states: { About: 'Serial number', Settings: { packageName: 'com.android.settings' } },
 *   stages: [
 *     {
 *       name: 'about this phone',
 *       reached: 'About',
 *       on: {
 *         Settings: async () => (await agent.actions.scrollTo('About phone')).tap(),
 *         unknown: () => agent.actions.launchApp('com.android.settings'),
 *       },
 *     },
 *   ],
 * });
 * console.log(success, error);
 */
declare function runStages<State extends string>(plan: StagePlan<State>): Promise<StagesResult<State>>;

interface StagePlan<State extends string> {
  /**
   * How each state is recognised: the signs are tried in their order, the first match counts, and a screen
   * without a match is `unknown`. Or a function of your own, such as `detectScreenState`; its `Unknown` means
   * the same.
   */
  states: { readonly [Name in State]?: ScreenSign } | ((screen: AndroidNode) => State);
  /** Stages in the order in which they are to be reached. */
  stages: readonly Stage<NoInfer<State>>[];
  /**
   * Interruptions that may come up at any time. They are looked for before the states; each one dealt with
   * costs a step.
   */
  dialogs?: readonly UnexpectedDialog[];
  /** Maximum number of actions and waits of all stages together. Default 50. */
  maxSteps?: number;
  /** Time limit of each stage in milliseconds. Default 300,000: five minutes. */
  timeLimitMs?: number;
  /** Pause after each step, before the screen is read again, in milliseconds. Default 500. */
  pauseMs?: number;
  /** Maximum number of consecutive unknown screens that are waited out before the run gives up. Default 10. */
  maxUnknownLooks?: number;
  /** Quality of the pictures of stored screens. Default `ScreenshotRecord.LOW_QUALITY`. */
  screenshotRecord?: ScreenshotRecord;
}

/** A text on the screen, as `findTextOne` finds it, or conditions that must all hold, or a function of your own. */
type ScreenSign =
  | string
  | RegExp
  | { readonly id?: string; readonly text?: string | RegExp; readonly packageName?: string }
  | ((screen: AndroidNode) => unknown);

interface Stage<State extends string> {
  /** Name of the goal. Records have it as the next stage. */
  name: string;
  /** States in any of which the stage is reached. */
  reached: State | readonly State[];
  /**
   * The action for each state that leads closer to the goal. In a state without an action, the runner waits;
   * each wait costs a step. With an action for `unknown`, unknown screens are not waited out.
   */
  on: { readonly [Name in State | 'unknown']?: StageAction };
  /** Time limit of the stage in milliseconds. Default: that of the plan. An action that takes longer is left behind. */
  timeLimitMs?: number;
}

interface UnexpectedDialog {
  /** Name of the dialog. Records have it as the screen state. */
  name: string;
  when: ScreenSign;
  do: StageAction;
}

/** An action; a promise that it returns is awaited before the screen is read again. */
type StageAction = (screen: AndroidNode, step: StageStep) => unknown;

interface StageStep {
  /** The stage that is to be reached. */
  readonly stage: string;
  /** The state, `unknown`, or the name of a dialog. */
  readonly screenState: string;
  /** Steps that were left before this one. */
  readonly remainingSteps: number;
}

type StagesResult<State extends string> = StagesEnd<State> &
  (
    | { readonly success: true; readonly reason: null; readonly error: null; readonly recordId: null }
    | {
        readonly success: false;
        /** Reason of the failure. `unknownScreen`: steps were left, but unknown screens did not go away. */
        readonly reason: 'outOfSteps' | 'unknownScreen' | 'timeout';
        /** The story for people, step by step. */
        readonly error: string;
        /** ID of the record; null when none could be made, and `error` says why. */
        readonly recordId: string | null;
      }
  );

/** The position of the runner at the end. */
interface StagesEnd<State extends string> {
  /** The stage that was to be reached; the last one when all are. */
  readonly stage: string;
  readonly screenState: State | 'unknown' | (string & {});
  readonly remainingSteps: number;
  readonly usedSteps: number;
}
