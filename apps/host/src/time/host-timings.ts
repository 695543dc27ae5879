/**
 * Timings of a host that no setting changes, in milliseconds. Tests override the ones that they would have to wait for.
 */
export interface HostTimings {
  /** Pause after the server has refused this host. */
  readonly refusedRetryMs: number;
  /** Time during shutdown for the server to store the last log lines and end reports. */
  readonly farewellMs: number;

  /**
   * Timeout for loading a run's code and setting up its phone. Below the 10 s that the server waits for the
   * acknowledgement.
   */
  readonly runStartMs: number;
  /**
   * Maximum delay of the end report while logs and files upload to a connected server. Below the time that a stop
   * waits.
   */
  readonly endReportMs: number;

  /** Interval of heartbeat probes to a ready phone. */
  readonly heartbeatMs: number;
  /** Timeout of a heartbeat probe. */
  readonly probeTimeoutMs: number;
  /** Timeout of one call of a driver, in addition to the duration of a long press or a swipe. */
  readonly callTimeoutMs: number;
  /**
   * Backoff before an unavailable UI helper is started again, while the phone is idle. Doubles up to ten times as long.
   */
  readonly helperRetryMs: number;
  /** Interval of reading battery, temperature and storage of a phone. */
  readonly healthMs: number;
  /** Interval of checking whether Android has started and is unlocked. */
  readonly bootPollMs: number;

  /** Timeout of reading a tree. */
  readonly treeMs: number;
  /** Timeout of a tree on a phone that recently exceeded `treeMs`. Above the 10 s after which the helper gives up. */
  readonly slowTreeMs: number;
  /** Timeout of an input, in addition to the duration of the input itself. */
  readonly inputMs: number;
  /** Time for which the next call knows the text typed into a password field, so that it can type more into it. */
  readonly passwordMs: number;
  /** Timeout of reading the nodes of a web page. */
  readonly webPageMs: number;
  /** Minimum pause between two restarts of a helper whose connection to Android's accessibility has worn out. */
  readonly renewalMs: number;

  /**
   * Pause before reading a screen that reported no change: apps may change without an event. Doubles up to `maxLookMs`.
   */
  readonly firstLookMs: number;
  /** Maximum of that pause. Once it is reached, the phone polls its own screen. */
  readonly maxLookMs: number;
  /** Interval of readings while the phone polls its own screen. */
  readonly ownLookMs: number;
  /** Pause between two readings of a screen that reports changes continuously. */
  readonly changeRestMs: number;

  /** Interval of pictures of a film while no call changes the screen. */
  readonly filmPictureMs: number;
  /** Interval of pictures of a film after a call that may have changed the screen. */
  readonly filmAfterCallMs: number;
  /** Maximum wait of a film for the encoder to start. Without video by then, the film consists of pictures. */
  readonly filmStartMs: number;
  /** Interval at which a waiting film checks for such a call or for new packets. */
  readonly filmPollMs: number;
  /**
   * Length of a video stretch, which ends at the first key packet after it. The host buffers a stretch in memory and
   * loses it when it dies.
   */
  readonly filmStretchMs: number;
  /** Maximum length of a video stretch without key packets, such as of a screen at rest. */
  readonly maxFilmStretchMs: number;
}

export const hostTimings: HostTimings = Object.freeze({
  refusedRetryMs: 30_000,
  farewellMs: 3000,
  runStartMs: 9000,
  endReportMs: 8000,
  heartbeatMs: 5000,
  probeTimeoutMs: 3000,
  callTimeoutMs: 30_000,
  helperRetryMs: 180_000,
  healthMs: 30_000,
  bootPollMs: 1000,
  treeMs: 4000,
  slowTreeMs: 12_000,
  inputMs: 4000,
  passwordMs: 30_000,
  webPageMs: 2000,
  renewalMs: 60_000,
  firstLookMs: 250,
  maxLookMs: 1000,
  ownLookMs: 30_000,
  changeRestMs: 250,
  filmPictureMs: 1000,
  filmAfterCallMs: 500,
  filmStartMs: 3000,
  filmPollMs: 100,
  filmStretchMs: 10_000,
  maxFilmStretchMs: 60_000,
});
