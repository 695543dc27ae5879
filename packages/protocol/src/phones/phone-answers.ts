/** The answers of phones to the calls of agent-calls.ts. */
import { Type, type Static } from 'typebox';

/** A rectangle on the screen, in pixels; `right` and `bottom` lie just outside. */
export const Bounds = Type.Object({
  left: Type.Integer(),
  top: Type.Integer(),
  right: Type.Integer(),
  bottom: Type.Integer(),
});
export type Bounds = Static<typeof Bounds>;

/** One node of Android's accessibility tree, with all that the phone said of it. */
export interface UiNode {
  /** Android widget class, such as `android.widget.Button`. */
  className: string | null;
  /** The owning app, such as `com.android.settings`. */
  packageName: string;
  /** Full resource id, `package:id/name`. */
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
  /** -1 when the phone does not say. */
  maxTextLength: number;
  /** Android's input type as text, empty when the phone does not say. */
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
  /** False for nodes that the phone reports but does not show. */
  visible: boolean;
  children: UiNode[];
}

/** The active window of a phone at one moment. */
export interface ScreenTree {
  root: UiNode;
  /** The app in front. */
  packageName: string;
  /** 0, 1, 2 or 3 quarter turns. */
  rotation: number;
  /** Time of the capture on the host's clock, epoch milliseconds. */
  capturedAt: number;
  /** The source of the tree: the UiAutomator2 server on the phone, the resident helper, or `uiautomator dump`. */
  source: 'uiautomator2' | 'resident' | 'dump';
  /** Toasts and notifications of the last seconds, as far as the phone told them to accessibility; of which apps is not told. */
  announced?: string[];
  /** A remark on how the last trees came, such as that the UI helper was connected anew. */
  remark?: string;
  /** Names the tree in `record.screen`: the host still has the last few of a run. */
  treeId?: number;
}

/** One of the windows that are on the screen together. */
export interface WindowTree {
  root: UiNode;
  /** Whether the window is the soft keyboard. */
  isKeyboard: boolean;
}

/** A notification as the phone has it in its shade. */
export interface PhoneNotification {
  packageName: string;
  title: string | null;
  text: string | null;
}

/** A user of the phone: its owner, a work profile, or a second person. */
export interface PhoneUser {
  id: number;
  name: string;
  /** Its apps can be started. */
  isRunning: boolean;
}

/** A text message that the phone has received. */
export interface PhoneMessage {
  /** The number that the phone gives the message. */
  id: number;
  from: string;
  text: string;
  /** Epoch milliseconds by the host's clock. */
  receivedAt: number;
}

/** An encoded picture of the screen. */
export interface ScreenPicture {
  /** Base64 of the encoded picture. */
  base64: string;
  mimeType: 'image/jpeg' | 'image/png';
  width: number;
  height: number;
  originalWidth: number;
  originalHeight: number;
  /** A remark on it, such as that it is all black and nobody knows why. */
  remark?: string;
}

/** The facts of a phone in `agent.info`. */
/** Answer to an installation: of a bundle; empty for an APK. */
export interface InstalledParts {
  /** Names of APKs and other contents of the bundle that the phone did not get. */
  notInstalled: string[];
}

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

/** The app in front; `activity` is null when the phone does not say. */
export interface CurrentApp {
  packageName: string;
  activity: string | null;
}

/** An app that is installed. */
export interface InstalledApp {
  packageName: string;
  /** Whether the app came with the phone. */
  isSystem: boolean;
}

/** An entry of a folder of the phone. */
export interface PhoneFile {
  name: string;
  isFolder: boolean;
  sizeBytes: number;
  /** Epoch milliseconds, on the phone's clock. */
  modifiedAt: number;
}

/** One part of a file. */
export interface PhoneFilePart {
  base64: string;
  /** The size of the whole file. */
  sizeBytes: number;
}

/** How a command of the phone's shell ended. */
export interface ShellResult {
  stdout: string;
  stderr: string;
  /** Null on phones that don't tell it. */
  exitCode: number | null;
}

const words = Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]);

/** A way to find a node in code, tried on the screen that it is on. */
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

/** One node of a screen, with all that the phone says of it, and the code that finds it. */
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
