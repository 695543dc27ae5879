interface AgentUtils {
  /** Out-of-steps records: the last screens of a run, for its author to look at later. */
  readonly outOfSteps: OutOfStepsUtils;
  /** The job of the run: its tasks, results and further tasks. */
  readonly job: JobUtils;
  /**
   * Stores the present screen with a picture of low quality, and submits a `debug` record:
   * `await agent.utils.debug('checkout')`.
   */
  debug(tag?: string): Promise<SubmitResult>;
}

/**
 * The host collects the last 50 screens that a run stores. They become a record by `submit`, and by themselves when the
 * run ends with an uncaught error (`crash`) or exceeds its time limit (`timeout`): that record has one screen more, the
 * one that the phone showed at the end, if it answered quickly.
 *
 * @example
 * const screen = await agent.actions.screenContent();
 * const { storeScreen, submit } = agent.utils.outOfSteps;
 * await storeScreen(screen, 'checkout', 'unknown', 0, ScreenshotRecord.LOW_QUALITY);
 * const submitted = await submit('debug', 'example');
 * console.log(submitted.success ? submitted.id : submitted.error);
 */
interface OutOfStepsUtils {
  /**
   * Stores a screen. Cheap enough for every step: the tree is known to the host already, and the automation goes on at
   * once; only its next call that changes the phone waits until the picture is taken. The picture shows the screen of the
   * tree. It is left out, and the record is marked as partial, when it fails (a window that forbids pictures, a lost
   * phone; not for a picture that is black for another cause) and when the phone shows another tree by then.
   *
   * @param screen The tree from `agent.actions.screenContent()`. For a node within it, the whole tree is stored.
   * @param stage The goal of the automation at this moment, such as `checkout`. At most 500 characters, the rest is cut.
   * @param screenState The state that the screen was recognised as, or `unknown`. At most 500 characters, the rest is cut.
   * @param remainingSteps Steps that the automation has left; 0 means out of steps. A negative number counts as 0.
   * @param screenshotRecord Whether a picture is taken, and its quality.
   */
  storeScreen(
    screen: AndroidNode,
    stage: string,
    screenState: string,
    remainingSteps: number,
    screenshotRecord: ScreenshotRecord,
  ): Promise<void>;
  /**
   * Makes a record of the stored screens, oldest first; without any, of the present one. Does not reject
   * because of its arguments: `error` says why there is no record. With `success`, the record is safe on the
   * host's disk, and reaches the service as soon as possible.
   *
   * The screens stay stored: a later record shows them again, because they led there. Only a `debug` record
   * leaves out the screens of earlier `debug` records of the run. A run may submit 200 records at once, and one
   * more each minute; together they may take 64 MB at once, and 1 MB more each minute. A run that ends after an
   * `outOfSteps` or `timeout` record has that as its `outcome`.
   *
   * @param tag For `debug` records only, 1 to 64 characters, to find them by. Other types have none.
   */
  submit(type: 'outOfSteps' | 'timeout' | 'debug', tag?: string): Promise<SubmitResult>;
}

/**
 * Each branch declares the field of the other as `undefined`, so that `success` tells them apart without
 * `strict` too.
 */
type SubmitResult =
  | { success: false; error: string; id?: undefined }
  | { success: true; id: string; error?: undefined };

/** Quality of a picture of the screen. */
declare const ScreenshotRecord: {
  /** No picture, only the tree. */
  readonly NONE: 'none';
  /** JPEG of quality 40, at most 540 pixels wide. */
  readonly LOW_QUALITY: 'low_quality';
  /** JPEG of quality 90 in full size. */
  readonly HIGH_QUALITY: 'high_quality';
};
type ScreenshotRecord = (typeof ScreenshotRecord)[keyof typeof ScreenshotRecord];
