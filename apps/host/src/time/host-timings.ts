/** Times of a host that no setting changes, in milliseconds. A test overrides those that it would wait for. */
export interface HostTimings {
  /** Pause after the server has refused this host. */
  readonly refusedRetryMs: number;
  /** Time for the server to store the last log lines and ends of a host that stops. */
  readonly farewellMs: number;

  /** Limit for a run to have its code loaded and its phone set up. Below the 10 s that the server waits for the acknowledgement. */
  readonly runStartMs: number;
  /** Delay of the end report while logs and files upload to a connected server. Below what a stop is waited for. */
  readonly endReportMs: number;

  /** Interval of the signs of life that a ready phone is asked for. */
  readonly heartbeatMs: number;
  /** Limit for the phone's answer to that. */
  readonly probeTimeoutMs: number;
  /** Limit of one call of a driver, besides the time that a long press or a swipe takes by itself. */
  readonly callTimeoutMs: number;
  /** Pause before a UI helper that could not be had is tried again, while the phone is idle. Doubles up to ten times as long. */
  readonly helperRetryMs: number;
  /** Interval of looks at battery, temperature and storage of a phone. */
  readonly healthMs: number;
  /** Interval of looks whether Android has started and is unlocked. */
  readonly bootPollMs: number;

  /** Limit for a tree. */
  readonly treeMs: number;
  /** Limit for a tree of a phone that lately took longer than `treeMs`. Above the ten seconds after which the helper gives up. */
  readonly slowTreeMs: number;
  /** Limit for an input, besides the time that it takes by itself. */
  readonly inputMs: number;
  /** Time for which a text typed into a password field is known to the next call that types more into it. */
  readonly passwordMs: number;
  /** Limit for the nodes of a web page. */
  readonly webPageMs: number;
  /** Minimum pause between two renewals of a helper whose connection to Android's accessibility has worn out. */
  readonly renewalMs: number;

  /** Pause before the first reading of a screen of which no change was reported: apps may change without an event. Doubles. */
  readonly firstLookMs: number;
  /** The longest such pause. From then on the phone polls its own screen. */
  readonly maxLookMs: number;
  /** Interval of readings while the phone polls its own screen. */
  readonly ownLookMs: number;
  /** Pause between two readings of a screen that reports changes all the time. */
  readonly changeRestMs: number;

  /** Interval of pictures of a film, when nothing is done to the phone. */
  readonly filmPictureMs: number;
  /** The same after a call that may have changed the screen. */
  readonly filmAfterCallMs: number;
  /** Interval of looks of a film that waits whether there was such a call. */
  readonly filmPollMs: number;
  /** Length of a stretch of video, which ends at the first key packet after it. The host has it in memory and loses it when it dies. */
  readonly filmStretchMs: number;
  /** Length of a stretch without key packets, as of a screen at rest. */
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
  filmPollMs: 100,
  filmStretchMs: 10_000,
  maxFilmStretchMs: 60_000,
});
