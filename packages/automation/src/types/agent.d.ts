/**
 * The global `agent` of Phalanx automations, by which code uses the phone it runs on. Coordinates are pixels of
 * the screen as it is rotated now, from the top left corner. Durations are milliseconds.
 *
 * @example
 * const { model, androidVersion } = await agent.info.device();
 * agent.control.setResult({ model, androidVersion });
 */
declare const agent: Agent;

interface Agent {
  /** The parameters of the launch. */
  readonly arguments: AgentArguments;
  readonly control: AgentControl;
  readonly actions: AgentActions;
  readonly apps: AgentApps;
  readonly files: AgentFiles;
  readonly info: AgentInfo;
  readonly messages: AgentMessages;
  readonly run: AgentRun;
  readonly secrets: AgentSecrets;
  readonly utils: AgentUtils;
  /**
   * Runs a command line in the phone's shell, as `adb shell` does. Needs a host whose operator has set
   * `PHALANX_ALLOW_SHELL=true`; otherwise rejects with `not_allowed`. More than 256 KiB of output rejects with
   * `output_too_large`: write it to a file instead.
   *
   * @example
   * const { stdout } = await agent.shell('getprop ro.build.version.release');
   * console.log(stdout.trim());
   */
  shell(command: string, options?: ShellOptions): Promise<ShellResult>;
}

/** Shape of `automationParameters`. Extend it in your project to type your own parameters. */
interface AutomationParameters {
  // oxlint-disable-next-line typescript/no-explicit-any -- users read their own parameters without casts
  [name: string]: any;
}

/** Shape of `jobVariables`. Extend it in your project to type your own variables. */
interface JobVariables {
  // oxlint-disable-next-line typescript/no-explicit-any -- users read their own variables without casts
  [name: string]: any;
}

interface AgentArguments {
  readonly automationParameters: AutomationParameters;
  readonly jobVariables: JobVariables;
}

interface AgentControl {
  /** Ends the run at once, as completed. Nothing after the call runs, not even `finally` blocks. */
  stopCurrentAutomation(): never;
  /**
   * Sets the result of the run, for the user who launched it: `result` of `GET /api/v2/runs/:id` once the run
   * has ended, however it ends. The last value counts. Throws a `TypeError` for a value that JSON can't hold,
   * and a `RangeError` for more than 64 KiB of JSON.
   */
  setResult(value: unknown): void;
}

/** The same as `agent.control.stopCurrentAutomation()`. */
declare function stopCurrentAutomation(): never;

interface AgentRun {
  /**
   * Attaches a file to the run: text, bytes, or a value that is stored as JSON. It appears on the page of the
   * run, at `GET /api/v2/runs/:id/files` and in `phalanx runs files`, and is kept as long as the run, however
   * the run ends. Resolves when the file is on the disk of the host.
   *
   * A name has 1 to 200 characters, of those that every file system accepts. Each name can be attached once,
   * regardless of letter case. A run may attach 100 files of 50 MB together, unless the operator of the host
   * has set `PHALANX_RUN_FILES_MB`. Rejects with `attach_refused`, and with a `TypeError` for a value that JSON
   * can't hold. In text and JSON, Phalanx replaces the values of secrets by `[secret]`; it does not search
   * bytes.
   *
   * @example
   * const screen = await agent.actions.screenContent();
   * const rows = screen.allNodes().map(({ text, viewId }) => `${viewId ?? ''},${text ?? ''}`);
   * await agent.run.attach('screen.csv', ['id,text', ...rows].join('\n'));
   * await agent.run.attach('bounds.json', screen.boundsInScreen);
   */
  attach(name: string, data: unknown, options?: AttachOptions): Promise<void>;
}

interface AttachOptions extends ActionOptions {
  /** Media type, such as `text/csv`. Default: by the extension of the name. */
  contentType?: string;
}

interface AgentSecrets {
  /**
   * Returns the value of a secret of the project, as it was when the run was launched. Rejects with
   * `secret_not_found`; direct code has no secrets. Phalanx replaces the value by `[secret]` in logs, results,
   * errors, records and UI trees, also in those that `screenContent` returns, and covers it in pictures. It
   * does not recognise a value that the code has changed.
   *
   * @example
   * const password = await agent.secrets.get('SHOP_PASSWORD').catch(() => undefined);
   * if (password === undefined) console.warn('Store it first: phalanx secret set SHOP_PASSWORD');
   */
  get(name: string): Promise<string>;
  /**
   * Types the value of a secret into the focused field, after the text that is there. The code never gets the
   * value: the host types it, and the trace has only the name. Rejects with `secret_not_found`, and as
   * `writeText` does.
   *
   * @example
   * const field = await agent.actions.screenContent().then((screen) => screen.filterOne((f) => f.isEditText()));
   * if (field !== null) {
   *   await field.tap();
   *   await agent.secrets.type('SHOP_PASSWORD').catch(() => console.warn('Store it first: phalanx secret set SHOP_PASSWORD'));
   * }
   */
  type(name: string, options?: ActionOptions): Promise<void>;
}

interface AgentInfo {
  /** Returns make, model, Android version and screen of the phone. */
  device(): Promise<DeviceInfo>;
}

interface DeviceInfo {
  deviceId: string;
  serial: string;
  brand: string;
  model: string;
  /** Android version, such as `14`. */
  androidVersion: string;
  /** API level, such as 34. */
  sdkVersion: number;
  screenWidth: number;
  screenHeight: number;
  densityDpi: number;
}

/**
 * The error of a call that the phone could not do. Its message says what to do about it.
 *
 * @example
 * try {
 *   await agent.actions.launchApp('com.example.missing');
 * } catch (error) {
 *   if (!(error instanceof AgentError) || error.code !== 'app_not_found') throw error;
 * }
 */
declare class AgentError extends Error {
  private constructor();
  /**
   * A stable code. About the phone: `phone_gone`, `call_timed_out`, `call_cancelled`, `screen_not_readable`,
   * `secure_screen`, `screen_moving`, `input_refused`, `setting_unsupported`, `setting_refused`,
   * `ui_helper_failed`, `ui_helper_refused`, `phone_answer_unexpected`; about the request: `app_not_found`,
   * `app_not_started`, `app_change_refused`, `app_not_allowed` (the run's token is limited to other apps),
   * `user_refused`, `file_not_found`, `file_refused`, `output_too_large`, `no_focused_field`,
   * `text_not_typable`, `text_not_kept`, `no_alert`, `not_done`, `page_left`, `covered`, `not_in_view` and
   * `gone` (a node that no touch reaches), `clipboard_refused`, `messages_refused`, `no_code`; about the host:
   * `not_allowed`, `secret_not_found`, `attach_refused` and `invalid_call`; on a saved screen (`phalanx test`)
   * also `not_replayed`, for calls that only a phone can answer.
   */
  readonly code: string;
}

interface ShellOptions extends ActionOptions {
  /**
   * Time in milliseconds after which the command is ended, and the call rejects with `call_timed_out`. Default
   * 30,000; at most 300,000.
   */
  timeoutMs?: number;
}

interface ShellResult {
  stdout: string;
  stderr: string;
  /** Exit code; null on old phones, which don't report it. Many of Android's programs return 0 even after an error. */
  exitCode: number | null;
}
