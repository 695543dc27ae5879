/** Answers of phones to the calls of agent-calls.ts. */
import { Type, type Static } from 'typebox';

/** Rectangle on the screen in pixels; `right` and `bottom` are exclusive. */
export const Bounds = Type.Object({
  left: Type.Integer(),
  top: Type.Integer(),
  right: Type.Integer(),
  bottom: Type.Integer(),
});
export type Bounds = Static<typeof Bounds>;

/** Node of Android's accessibility tree, with everything that the phone reports about it. */
export interface UiNode {
  /** Android widget class, such as `android.widget.Button`. */
  className: string | null;
  /** Package of the owning app, such as `com.android.settings`. */
  packageName: string;
  /** Full resource ID, `package:id/name`. */
  viewId: string | null;
  text: string | null;
  /** Content description. */
  description: string | null;
  hintText: string | null;
  tooltipText: string | null;
  paneTitle: string | null;
  containerTitle: string | null;
  /** Position among the parent's children, from 0. */
  index: number;
  boundsInScreen: Bounds;
  /** Maximum length of the text; -1 when the phone does not report it. */
  maxTextLength: number;
  /** Android's input type as text; empty when the phone does not report it. */
  inputType: string;
  isShowingHintText: boolean;
  checkable: boolean;
  checked: boolean;
  clickable: boolean;
  enabled: boolean;
  focusable: boolean;
  focused: boolean;
  longClickable: boolean;
  password: boolean;
  scrollable: boolean;
  selected: boolean;
  /** Whether the phone shows the node. The phone also reports hidden nodes. */
  visible: boolean;
  children: UiNode[];
}

/** Active window of a phone at one moment. */
export interface ScreenTree {
  root: UiNode;
  /** Package of the foreground app. */
  packageName: string;
  /** Rotation in quarter turns, 0 to 3. */
  rotation: number;
  /** Time of the capture in epoch milliseconds on the host's clock. */
  capturedAt: number;
  /** Source of the tree: the UiAutomator2 server on the phone, the resident helper, or `uiautomator dump`. */
  source: 'uiautomator2' | 'resident' | 'dump';
  /**
   * Recent toasts and notifications, as far as the phone announced them to accessibility services, without their apps.
   */
  announced?: string[];
  /** Remark on the source of the last trees, such as that the UI helper was restarted. */
  remark?: string;
  /** ID of the tree for `record.screen`. The host caches the last few trees of a run. */
  treeId?: number;
}

/** One of the windows that are on the screen at the same time. */
export interface WindowTree {
  root: UiNode;
  /** Whether the window is the soft keyboard. */
  isKeyboard: boolean;
}

/** Notification in the phone's shade. */
export interface PhoneNotification {
  packageName: string;
  title: string | null;
  text: string | null;
}

/** User of the phone: its owner, a work profile, or a second person. */
export interface PhoneUser {
  id: number;
  name: string;
  /** Whether apps of this user can be started. */
  isRunning: boolean;
}

/** Text message that the phone has received. */
export interface PhoneMessage {
  /** Phone's own ID of the message. */
  id: number;
  from: string;
  text: string;
  /** Time of reception in epoch milliseconds on the host's clock. */
  receivedAt: number;
}

/** Encoded picture of the screen. */
export interface ScreenPicture {
  /** Base64 of the encoded picture. */
  base64: string;
  mimeType: 'image/jpeg' | 'image/png';
  width: number;
  height: number;
  originalWidth: number;
  originalHeight: number;
  /** Remark on the picture, such as that it is all black for an unknown reason. */
  remark?: string;
}

/** Result of the installation of a bundle; empty for an APK. */
export interface InstalledParts {
  /** Names of APKs and other contents of the bundle that were not installed. */
  notInstalled: string[];
}

/** Facts about a phone in `agent.info`. */
export interface DeviceInfo {
  deviceId: string;
  serial: string;
  brand: string;
  model: string;
  androidVersion: string;
  sdkVersion: number;
  screenWidth: number;
  screenHeight: number;
  densityDpi: number;
}

/** Foreground app; `activity` is null when the phone does not report it. */
export interface CurrentApp {
  packageName: string;
  activity: string | null;
}

/** App that is installed on the phone. */
export interface InstalledApp {
  packageName: string;
  /** Whether the app came with the phone. */
  isSystem: boolean;
}

/** Entry of a folder on the phone. */
export interface PhoneFile {
  name: string;
  isFolder: boolean;
  sizeBytes: number;
  /** Time of the last change in epoch milliseconds on the phone's clock. */
  modifiedAt: number;
}

/** Part of a file. */
export interface PhoneFilePart {
  base64: string;
  /** Size of the whole file in bytes. */
  sizeBytes: number;
}

/** Result of a command in the phone's shell. */
export interface ShellResult {
  stdout: string;
  stderr: string;
  /** Exit code; null on phones that do not report it. */
  exitCode: number | null;
}

const words = Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]);

/** Selector that finds a node in code, tested on the node's screen. */
const FoundSelector = Type.Object(
  {
    wait: Type.String({
      maxLength: 20_000,
      description: 'Code that waits for the node',
      examples: ["agent.actions.waitForId('name')"],
    }),
    find: Type.String({
      maxLength: 20_000,
      description: 'Code that finds the node on a screen that was read',
      examples: ["screen.findById('name')"],
    }),
    use: Type.String({ maxLength: 20_000, description: 'A statement that waits for the node and uses it' }),
    count: Type.Integer({ minimum: 0, description: 'Number of nodes on the screen that match' }),
    finds: Type.Enum(['alone', 'nearest', 'first', 'another'] as const, {
      description:
        'Match that the code returns. `alone`: this node, the only match. `nearest` or `first`: this node, as the nearest or first of several. `another`: a different node',
    }),
    depends_on: Type.Union([Type.Enum(['state', 'order'] as const), Type.Null()], {
      description: 'Reason why it may find a different node later; null: none',
    }),
  },
  { title: 'FoundSelector' },
);

/** Node of a screen, with everything that the phone reports about it, and the code that finds it. */
export const NodeInspection = Type.Object(
  {
    class_name: words,
    id: words,
    text: words,
    description: words,
    hint: words,
    package_name: Type.String({ maxLength: 1000 }),
    bounds: Bounds,
    is: Type.Array(Type.String({ maxLength: 50 }), {
      maxItems: 20,
      description: 'States of the node, such as `clickable`, `checked` or `disabled`',
      examples: [['clickable']],
    }),
    children: Type.Integer({ minimum: 0 }),
    touch_obstacle: Type.Optional(
      Type.Union([Type.String({ maxLength: 2000 }), Type.Null()], {
        description:
          'Why touches do not reach the node, such as what covers it; null if they do. Missing from hosts of earlier releases',
      }),
    ),
    selectors: Type.Array(FoundSelector, {
      maxItems: 20,
      description: 'Selectors that find the node, most stable first',
    }),
  },
  { title: 'NodeInspection' },
);
export type NodeInspection = Static<typeof NodeInspection>;
