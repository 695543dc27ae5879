/**
 * Leads an app through stages and tells the whole story when that fails. Again and again it reads the screen, recognises
 * its state, stores it for a record (`agent.utils.outOfSteps`), and does what the present stage says for that state,
 * until the last stage is reached, or steps, the time or the allowed unknown screens run out: then it submits a record,
 * and the run's `outcome` is `out_of_steps` (or `timed_out`), unless a later `runStages` reaches its last stage.
 *
 * An error that an action throws is not caught: it rejects the promise. Uncaught, it ends the run, and the host makes a
 * `crash` record of the same screens.
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
   * How each state is recognised: the signs are tried in their order, the first that fits counts, and a screen that
   * none fits is `unknown`. Or a function of your own, such as `detectScreenState`; its `Unknown` means the same.
   */
  states: { readonly [Name in State]?: ScreenSign } | ((screen: AndroidNode) => State);
  /** In the order in which they are to be reached. */
  stages: readonly Stage<NoInfer<State>>[];
  /** Interruptions that may come up at any time. Looked for before the states; each one dealt with costs a step. */
  dialogs?: readonly UnexpectedDialog[];
  /** Actions and waits that all stages together may use. Default 50. */
  maxSteps?: number;
  /** How long each stage may take. Default 300,000: five minutes. */
  timeLimitMs?: number;
  /** Pause after each step, before the screen is read again. Default 500. */
  pauseMs?: number;
  /** Maximum number of consecutive unknown screens that are waited out before the run gives up. Default 10. */
  maxUnknownLooks?: number;
  /** Pictures of the stored screens. Default `ScreenshotRecord.LOW_QUALITY`. */
  screenshotRecord?: ScreenshotRecord;
}

/** A text that is on the screen, as `findTextOne` finds it, or what must all hold, or a condition of your own. */
type ScreenSign =
  | string
  | RegExp
  | { readonly id?: string; readonly text?: string | RegExp; readonly packageName?: string }
  | ((screen: AndroidNode) => unknown);

interface Stage<State extends string> {
  /** The name of the goal. It stands in records as the next stage. */
  name: string;
  /** The stage is reached in any of these states. */
  reached: State | readonly State[];
  /**
   * The action in each state that comes nearer. In a state without an action, the runner waits; each wait costs a step.
   * With an action for `unknown`, unknown screens are not waited out.
   */
  on: { readonly [Name in State | 'unknown']?: StageAction };
  /** Default: that of the plan. An action that takes longer is left behind. */
  timeLimitMs?: number;
}

interface UnexpectedDialog {
  /** It stands in records as the screen state. */
  name: string;
  when: ScreenSign;
  do: StageAction;
}

/** Awaited before the screen is read again. */
type StageAction = (screen: AndroidNode, step: StageStep) => unknown;

interface StageStep {
  /** The stage that is to be reached. */
  readonly stage: string;
  /** The state, `unknown`, or the name of a dialog. */
  readonly screenState: string;
  /** Before this step. */
  readonly remainingSteps: number;
}

type StagesResult<State extends string> = StagesEnd<State> &
  (
    | { readonly success: true; readonly reason: null; readonly error: null; readonly recordId: null }
    | {
        readonly success: false;
        /** `unknownScreen`: steps were left, but unknown screens did not go away. */
        readonly reason: 'outOfSteps' | 'unknownScreen' | 'timeout';
        /** For people: what happened, step by step. */
        readonly error: string;
        /** The record; null when none could be made, and `error` says why. */
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
