/**
 * Calls by which code in the sandbox uses the phone it runs on, and its recorder: one row a call, with the
 * shape of its parameters (checked by the host, because the caller is user code) and of its result. Coordinates
 * are pixels of the screen as it is rotated now, from the top left corner. Durations are milliseconds.
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

/** Files travel in parts of at most this size, in bytes. */
const maxFilePartBytes = 512 * 1024;

/** Pictures that go into a record. */
export const screenshotQualities = ['none', 'low_quality', 'high_quality'] as const;
export type ScreenshotQuality = (typeof screenshotQualities)[number];

/** Types of the records that an automation submits; a `crash` is recorded by the host alone. */
export const submittedRecordTypes = ['outOfSteps', 'timeout', 'debug'] as const;

/** How a submit went: the record's ID, or why there is none. */
export type SubmitResult = { success: true; id: string } | { success: false; error: string };

const coordinate = Type.Integer({ minimum: 0, maximum: 100_000 });
const point = { x: coordinate, y: coordinate };
const touch = {
  ...point,
  /** The node that is meant: the host touches it where a touch gets to it, in place of the point. */
  on: Type.Optional(TouchedNode),
  /** Closes the keyboard where it lies over the node. */
  closeKeyboard: Type.Optional(Type.Boolean()),
};
/** Has the result say which window gets the touch; without it, and where the phone does not tell, it is null. */
const tellWindow = Type.Optional(Type.Boolean());
const packageName = PackageName;
/** A user of the phone, such as that of a work profile. Default: the main one. */
const user = Type.Optional(Type.Integer({ minimum: 0, maximum: 9999 }));
const phonePath = Type.String({ pattern: '^/[^\\u0000\\r\\n]+$', maxLength: 1000 });
const nothing = Type.Object({});
/** JSON of an object. */
const objectText = Type.String({ maxLength: maxRunResultBytes });

/** The server's answer about tasks, or its reason for giving none. */
export type TaskAnswer =
  | { success: true; tasks: readonly RunTask[]; timeoutMs: number }
  | { success: false; error: string };

/** A call's parameters as a schema; its result is only a type, because the host itself makes it. */
interface AgentCall<Params extends TSchema, Result> {
  readonly params: Params;
  /** Never set: it carries the type. */
  readonly result?: Result;
}

const call =
  <Result>() =>
  <Params extends TSchema>(params: Params): AgentCall<Params, Result> => ({ params });

export const agentCalls = {
  'screen.content': call<ScreenTree>()(nothing),
  /**
   * Waits until the phone shows another screen than in the reading of that `capturedAt`; `same` when the time is over. `untold` comes at
   * once where the phone does not tell of changes: the caller has to look.
   */
  'screen.change': call<'changed' | 'same' | 'untold'>()(
    Type.Object({
      capturedAt: Type.Integer({ minimum: 0 }),
      /** How long after that reading the phone may be looked at again, at the earliest. */
      restMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
      timeoutMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
    }),
  ),
  /** All windows, the front one first. */
  'screen.windows': call<WindowTree[]>()(nothing),
  'screen.screenshot': call<ScreenPicture>()(
    Type.Object({
      format: Type.Optional(Type.Union([Type.Literal('jpeg'), Type.Literal('png')])),
      /** JPEG quality. Default 80. */
      quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      /** Larger pictures are scaled down to this width. Default: as the screen is. */
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
  /** Holds at the first point until what is there can be moved, and takes it to the second. */
  'input.drag': call<void>()(
    Type.Object({
      fromX: coordinate,
      fromY: coordinate,
      toX: coordinate,
      toY: coordinate,
      durationMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
    }),
  ),
  /** Several fingers at once, each along its own way. */
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
  /** Presses a button of the dialog in front, the named one if there is a name; gives its label. */
  'alert.press': call<string>()(
    Type.Object({
      answer: Type.Union([Type.Literal('accept'), Type.Literal('dismiss')]),
      button: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    }),
  ),
  /** Quarter turns from upright. */
  'screen.rotate': call<void>()(Type.Object({ quarterTurns: Type.Integer({ minimum: 0, maximum: 3 }) })),
  /** Types into the focused field, after what is there. Any Unicode text. */
  'input.text': call<void>()(Type.Object({ text: Type.String({ maxLength: 10_000 }) })),
  /** Empties the focused field. */
  'input.clearText': call<void>()(nothing),
  /** The text on the clipboard. */
  'clipboard.read': call<string>()(nothing),
  'clipboard.write': call<void>()(Type.Object({ text: Type.String({ maxLength: 10_000 }) })),
  /** An Android key code, such as 66 for ENTER. */
  'input.key': call<void>()(Type.Object({ keyCode: Type.Integer({ minimum: 0, maximum: 1000 }) })),
  'navigate.back': call<void>()(nothing),
  'navigate.home': call<void>()(nothing),
  'navigate.recents': call<void>()(nothing),
  'navigate.notifications': call<void>()(nothing),
  /** Off: without any; on: as they were. They are put back when the run has ended. */
  'screen.animations': call<void>()(Type.Object({ isOn: Type.Boolean() })),
  /** Put back when the run has ended. */
  'phone.settings': call<void>()(PhoneSettings),
  'notification.list': call<PhoneNotification[]>()(nothing),
  /** Text messages that came at that time or later, newest first. Without `from` from everybody. */
  'message.list': call<PhoneMessage[]>()(
    Type.Object({
      since: Type.Number({ minimum: 0 }),
      from: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
  ),
  'app.launch': call<void>()(Type.Object({ packageName, user })),
  'app.stop': call<void>()(Type.Object({ packageName, user })),
  'app.current': call<CurrentApp>()(nothing),
  /** Opens an address in the named app, or in one that accepts it. */
  'app.openLink': call<void>()(
    Type.Object({
      url: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9+.-]*:\\S+$', maxLength: 4000 }),
      packageName: Type.Optional(packageName),
    }),
  ),
  'app.list': call<InstalledApp[]>()(Type.Object({ user })),
  'user.list': call<PhoneUser[]>()(nothing),
  /** From an APK file on the phone. */
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
  /** A part of a file, counted from 0; beyond the end it is empty. */
  'file.read': call<PhoneFilePart>()(
    Type.Object({
      path: phonePath,
      part: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
      partBytes: Type.Integer({ minimum: 1, maximum: maxFilePartBytes }),
    }),
  ),
  /** The first part replaces the file, the others follow what is there. Missing folders are made. */
  'file.write': call<void>()(
    Type.Object({
      path: phonePath,
      base64: Type.String({ maxLength: Math.ceil(maxFilePartBytes / 3) * 4 }),
      isFirst: Type.Boolean(),
    }),
  ),
  /** Has Android put a file into MediaStore. False: it did not, or the file is in no shared storage. */
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
   * Collects a screen for the run's next record. With `tree_unknown` the host has done nothing, because it no longer
   * has the tree: the caller sends it as `root`, or neither when it is too large to be sent.
   */
  'record.screen': call<'stored' | 'tree_unknown'>()(
    Type.Object({
      treeId: Type.Optional(Type.Integer({ minimum: 1 })),
      /** A `UiNode`, as user code sends it: the host checks it node by node. */
      root: Type.Optional(Type.Unknown()),
      stage: Type.String({ maxLength: maxStageLength }),
      screenState: Type.String({ maxLength: maxStageLength }),
      remainingSteps: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      screenshot: Type.Enum(screenshotQualities),
    }),
  ),
  /** Makes a record of the collected screens. An invalid request is answered with `success: false`. */
  'record.submit': call<SubmitResult>()(
    Type.Object({
      type: Type.String({ maxLength: 100 }),
      tag: Type.Optional(Type.String({ maxLength: 1000 })),
    }),
  ),
  /** The value of a secret of the project. */
  'secret.get': call<string>()(Type.Object({ name: SecretName })),
  /** Types its value into the focused field. The code does not get the value. */
  'secret.type': call<void>()(Type.Object({ name: SecretName })),
  /**
   * A part of a file that the run attaches, from the first, 0, to the last. A first part of a name whose last has not
   * come begins it anew.
   */
  'run.attach': call<void>()(
    Type.Object({
      name: Type.String({ maxLength: 1000 }),
      contentType: Type.Optional(ContentType),
      /** Text is searched for secrets. */
      isText: Type.Boolean(),
      part: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
      isLast: Type.Boolean(),
      base64: Type.String({ maxLength: Math.ceil(maxFilePartBytes / 3) * 4 }),
    }),
  ),
  /** The task that the run has now; none when it is of no job. */
  'task.current': call<TaskAnswer>()(nothing),
  /** Another task of the job, which the run takes; none when there is none for it. */
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
  /** The stage runner came to its last stage: what it may have recorded of its way before no longer counts. */
  'run.arrived': call<void>()(nothing),
} as const;

export type AgentCallName = keyof typeof agentCalls;
/** Calls of `agent.utils.job`. */
export type TaskCallName = Extract<AgentCallName, `task.${string}`>;
/** Calls that the host answers by itself. */
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
