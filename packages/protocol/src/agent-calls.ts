/**
 * Calls by which code in the sandbox uses the phone that it runs on, and its recorder. Each row is one call, with the
 * schema of its parameters (validated by the host, because the caller is user code) and the type of its result.
 * Coordinates are pixels of the screen in its current rotation, from the top left corner. Durations are milliseconds.
 */
import { Type, type Static, type TSchema } from 'typebox';

import { Uuid } from './ids.ts';
import type {
  CurrentApp,
  DeviceInfo,
  InstalledApp,
  InstalledParts,
  PhoneFile,
  PhoneFilePart,
  PhoneMessage,
  PhoneNotification,
  PhoneUser,
  ScreenPicture,
  ScreenTree,
  ShellResult,
  WindowTree,
} from './phones/phone-answers.ts';
import { PackageName, PhoneSettings } from './phones/phone-settings.ts';
import { TouchedNode, type TouchedWindow, type TouchReach } from './phones/touch.ts';
import { ContentType } from './runs/run-files.ts';
import { maxTasksAtOnce, type RunTask, SubmittedStatus } from './rest/work/run-tasks.ts';
import { SecretName } from './secrets.ts';
import { maxRunResultBytes, maxStageLength } from './runs/run-limits.ts';

/** Maximum size of one part of a file, in bytes. */
const maxFilePartBytes = 512 * 1024;

/** Qualities of pictures in a record. */
export const screenshotQualities = ['none', 'low_quality', 'high_quality'] as const;
export type ScreenshotQuality = (typeof screenshotQualities)[number];

/** Types of records that an automation submits. Only the host records a `crash`. */
export const submittedRecordTypes = ['outOfSteps', 'timeout', 'debug'] as const;

/** Result of a submit: the record's ID, or the reason why there is none. */
export type SubmitResult = { success: true; id: string } | { success: false; error: string };

const coordinate = Type.Integer({ minimum: 0, maximum: 100_000 });
const point = { x: coordinate, y: coordinate };
const touch = {
  ...point,
  /** Target node. The host touches it where a touch reaches it, instead of the point. */
  on: Type.Optional(TouchedNode),
  /** Whether to close the keyboard when it covers the node. */
  closeKeyboard: Type.Optional(Type.Boolean()),
};
/**
 * Whether the result names the window that gets the touch. Otherwise, and when the phone does not report it, the result
 * is null.
 */
const tellWindow = Type.Optional(Type.Boolean());
const packageName = PackageName;
/** User of the phone, such as that of a work profile. Default: the main user. */
const user = Type.Optional(Type.Integer({ minimum: 0, maximum: 9999 }));
const phonePath = Type.String({ pattern: '^/[^\\u0000\\r\\n]+$', maxLength: 1000 });
const nothing = Type.Object({});
/** JSON text of an object. */
const objectText = Type.String({ maxLength: maxRunResultBytes });

/** Answer of the server about tasks, or the reason for a refusal. */
export type TaskAnswer =
  | { success: true; tasks: readonly RunTask[]; timeoutMs: number }
  | { success: false; error: string };

/** Parameters of a call as a schema. The result is only a type, because the host itself creates it. */
interface AgentCall<Params extends TSchema, Result> {
  readonly params: Params;
  /** Never set; carries the type of the result. */
  readonly result?: Result;
}

const call =
  <Result>() =>
  <Params extends TSchema>(params: Params): AgentCall<Params, Result> => ({ params });

export const agentCalls = {
  'screen.content': call<ScreenTree>()(nothing),
  /**
   * Waits until the phone shows another screen than in the reading with that `capturedAt`. Returns `same` after the
   * timeout, and `untold` at once when the phone does not report changes: then the caller has to poll.
   */
  'screen.change': call<'changed' | 'same' | 'untold'>()(
    Type.Object({
      capturedAt: Type.Integer({ minimum: 0 }),
      /** Minimum pause after that reading before the phone may be read again. */
      restMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
      timeoutMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
    }),
  ),
  /** Returns all windows, the front one first. */
  'screen.windows': call<WindowTree[]>()(nothing),
  'screen.screenshot': call<ScreenPicture>()(
    Type.Object({
      format: Type.Optional(Type.Union([Type.Literal('jpeg'), Type.Literal('png')])),
      /** JPEG quality in percent. Default 80. */
      quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      /** Maximum width in pixels; larger pictures are scaled down. Default: the width of the screen. */
      maxWidth: Type.Optional(Type.Integer({ minimum: 16, maximum: 10_000 })),
    }),
  ),
  /** Finds the point at which a touch reaches a node on the current screen. */
  'screen.reach': call<TouchReach>()(Type.Object({ on: TouchedNode })),
  'input.tap': call<TouchedWindow | null>()(Type.Object({ ...touch, tellWindow })),
  'input.doubleTap': call<void>()(Type.Object(touch)),
  'input.longPress': call<void>()(
    Type.Object({ ...touch, durationMs: Type.Integer({ minimum: 1, maximum: 60_000 }) }),
  ),
  'input.swipe': call<TouchedWindow | null>()(
    Type.Object({
      fromX: coordinate,
      fromY: coordinate,
      toX: coordinate,
      toY: coordinate,
      durationMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
      tellWindow,
    }),
  ),
  /** Long-presses the first point until its content can be moved, and drags it to the second. */
  'input.drag': call<void>()(
    Type.Object({
      fromX: coordinate,
      fromY: coordinate,
      toX: coordinate,
      toY: coordinate,
      durationMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
    }),
  ),
  /** Moves several fingers at the same time, each along its own path. */
  'input.fingers': call<void>()(
    Type.Object({
      ways: Type.Array(
        Type.Object({ fromX: coordinate, fromY: coordinate, toX: coordinate, toY: coordinate }),
        { minItems: 1, maxItems: 10 },
      ),
      durationMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
    }),
  ),
  'input.hideKeyboard': call<void>()(nothing),
  /** Presses a button of the dialog in front: the named one, if a name is given. Returns its label. */
  'alert.press': call<string>()(
    Type.Object({
      answer: Type.Union([Type.Literal('accept'), Type.Literal('dismiss')]),
      button: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    }),
  ),
  /** Rotates the screen, counted in quarter turns from upright. */
  'screen.rotate': call<void>()(Type.Object({ quarterTurns: Type.Integer({ minimum: 0, maximum: 3 }) })),
  /** Types any Unicode text into the focused field, after its current content. */
  'input.text': call<void>()(Type.Object({ text: Type.String({ maxLength: 10_000 }) })),
  /** Clears the focused field. */
  'input.clearText': call<void>()(nothing),
  /** Returns the text on the clipboard. */
  'clipboard.read': call<string>()(nothing),
  'clipboard.write': call<void>()(Type.Object({ text: Type.String({ maxLength: 10_000 }) })),
  /** Presses a key by its Android key code, such as 66 for ENTER. */
  'input.key': call<void>()(Type.Object({ keyCode: Type.Integer({ minimum: 0, maximum: 1000 }) })),
  'navigate.back': call<void>()(nothing),
  'navigate.home': call<void>()(nothing),
  'navigate.recents': call<void>()(nothing),
  'navigate.notifications': call<void>()(nothing),
  /** Turns animations off, or back to their earlier values. They are restored at the end of the run. */
  'screen.animations': call<void>()(Type.Object({ isOn: Type.Boolean() })),
  /** Changes settings of the phone. They are restored at the end of the run. */
  'phone.settings': call<void>()(PhoneSettings),
  'notification.list': call<PhoneNotification[]>()(nothing),
  /** Returns text messages received since the given time, newest first. Without `from`, messages of all senders. */
  'message.list': call<PhoneMessage[]>()(
    Type.Object({
      since: Type.Number({ minimum: 0 }),
      from: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
  ),
  'app.launch': call<void>()(Type.Object({ packageName, user })),
  'app.stop': call<void>()(Type.Object({ packageName, user })),
  'app.current': call<CurrentApp>()(nothing),
  /** Opens a URL in the named app, or in an app that accepts it. */
  'app.openLink': call<void>()(
    Type.Object({
      url: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9+.-]*:\\S+$', maxLength: 4000 }),
      packageName: Type.Optional(packageName),
    }),
  ),
  'app.list': call<InstalledApp[]>()(Type.Object({ user })),
  'user.list': call<PhoneUser[]>()(nothing),
  /** Installs an app from an APK file on the phone. */
  'app.install': call<InstalledParts>()(
    Type.Object({ path: phonePath, grantPermissions: Type.Boolean(), user }),
  ),
  'app.uninstall': call<void>()(Type.Object({ packageName, user })),
  'app.clearData': call<void>()(Type.Object({ packageName, user })),
  /** Grants or revokes a runtime permission, such as `android.permission.CAMERA`. */
  'app.setPermission': call<void>()(
    Type.Object({
      packageName,
      permission: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_.]+$', maxLength: 255 }),
      isGranted: Type.Boolean(),
      user,
    }),
  ),
  'file.list': call<PhoneFile[]>()(Type.Object({ path: phonePath })),
  /** Reads a part of a file, counted from 0. Beyond the end of the file, the part is empty. */
  'file.read': call<PhoneFilePart>()(
    Type.Object({
      path: phonePath,
      part: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
      partBytes: Type.Integer({ minimum: 1, maximum: maxFilePartBytes }),
    }),
  ),
  /**
   * Writes a part of a file. The first part replaces the file, the others are appended. Missing folders are created.
   */
  'file.write': call<void>()(
    Type.Object({
      path: phonePath,
      base64: Type.String({ maxLength: Math.ceil(maxFilePartBytes / 3) * 4 }),
      isFirst: Type.Boolean(),
    }),
  ),
  /**
   * Makes Android index a file in MediaStore. Returns false when Android did not, or when the file is outside shared
   * storage.
   */
  'file.scan': call<boolean>()(Type.Object({ path: phonePath })),
  'file.delete': call<void>()(Type.Object({ path: phonePath })),
  'phone.shell': call<ShellResult>()(
    Type.Object({
      command: Type.String({ minLength: 1, maxLength: 10_000 }),
      timeoutMs: Type.Integer({ minimum: 1, maximum: 300_000 }),
    }),
  ),
  'device.info': call<DeviceInfo>()(nothing),
  /**
   * Collects a screen for the run's next record. `tree_unknown` means that the host has done nothing because it no
   * longer has the tree. The caller then sends the tree as `root`, or neither when it is too large.
   */
  'record.screen': call<'stored' | 'tree_unknown'>()(
    Type.Object({
      treeId: Type.Optional(Type.Integer({ minimum: 1 })),
      /** `UiNode` from user code; the host validates it node by node. */
      root: Type.Optional(Type.Unknown()),
      stage: Type.String({ maxLength: maxStageLength }),
      screenState: Type.String({ maxLength: maxStageLength }),
      remainingSteps: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      screenshot: Type.Enum(screenshotQualities),
    }),
  ),
  /** Makes a record of the collected screens. An invalid request gets `success: false`. */
  'record.submit': call<SubmitResult>()(
    Type.Object({
      type: Type.String({ maxLength: 100 }),
      tag: Type.Optional(Type.String({ maxLength: 1000 })),
    }),
  ),
  /** Returns the value of a secret of the project. */
  'secret.get': call<string>()(Type.Object({ name: SecretName })),
  /** Types the value of a secret into the focused field. The code does not get the value. */
  'secret.type': call<void>()(Type.Object({ name: SecretName })),
  /**
   * Attaches a part of a file to the run, counted from 0 to the last. A repeated first part restarts a file whose last
   * part has not come.
   */
  'run.attach': call<void>()(
    Type.Object({
      name: Type.String({ maxLength: 1000 }),
      contentType: Type.Optional(ContentType),
      /** Whether the file is text, in which secrets are redacted. */
      isText: Type.Boolean(),
      part: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
      isLast: Type.Boolean(),
      base64: Type.String({ maxLength: Math.ceil(maxFilePartBytes / 3) * 4 }),
    }),
  ),
  /** Returns the current task of the run; no task when the run belongs to no job. */
  'task.current': call<TaskAnswer>()(nothing),
  /** Takes another task of the job; no task when none is left for the run. */
  'task.next': call<TaskAnswer>()(nothing),
  'task.submit': call<TaskAnswer>()(
    Type.Object({ status: SubmittedStatus, isFinal: Type.Boolean(), data: objectText }),
  ),
  'task.add': call<TaskAnswer>()(
    Type.Object({
      jobId: Type.Optional(Uuid),
      inputs: Type.Array(objectText, { minItems: 1, maxItems: maxTasksAtOnce }),
    }),
  ),
  'task.list': call<TaskAnswer>()(Type.Object({ ids: Type.Array(Uuid, { maxItems: maxTasksAtOnce }) })),
  'task.submitElsewhere': call<TaskAnswer>()(
    Type.Object({ jobId: Uuid, isSuccess: Type.Boolean(), data: objectText }),
  ),
  /**
   * Reports that the stage runner has reached its last stage. Failures that it may have recorded before then no longer
   * count.
   */
  'run.arrived': call<void>()(nothing),
} as const;

export type AgentCallName = keyof typeof agentCalls;
/** Calls of `agent.utils.job`. */
export type TaskCallName = Extract<AgentCallName, `task.${string}`>;
/** Calls that the host answers itself. */
export type HostCallName =
  | TaskCallName
  | 'record.screen'
  | 'record.submit'
  | 'secret.get'
  | 'secret.type'
  | 'run.attach'
  | 'run.arrived';
/** Calls that go to the phone. */
export type PhoneCallName = Exclude<AgentCallName, HostCallName>;
export type AgentCallParams<Name extends AgentCallName> = Static<(typeof agentCalls)[Name]['params']>;
export type AgentCallResult<Name extends AgentCallName> =
  (typeof agentCalls)[Name] extends AgentCall<TSchema, infer Result> ? Result : never;
