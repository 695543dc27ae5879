/** A node of Android's accessibility tree, as it was when the screen was read. */
interface AndroidNode {
  /** A UUID that is new each time the screen is read, so it never names the same node twice. */
  readonly falseId: string;
  /** Full resource id, `package:id/name`. */
  readonly viewId?: string;
  /** Android widget class, such as `android.widget.Button`. */
  readonly className: string | null;
  /** The owning app, such as `com.android.settings`. */
  readonly packageName: string;

  /** Where the node is; `right` and `bottom` lie just outside. */
  readonly boundsInScreen: { left: number; top: number; right: number; bottom: number };
  /** Position among the parent's children, from 0. */
  readonly index: number;

  readonly text?: string;
  /** Content description. */
  readonly description?: string;
  readonly hintText: string | null;
  /** -1 when the phone does not say. */
  readonly maxTextLength: number;
  /** Android's input type as text, empty when the phone does not say. */
  readonly inputType: string;
  readonly isShowingHintText: boolean;
  readonly tooltipText?: string | null;
  readonly paneTitle?: string | null;
  readonly containerTitle?: string | null;

  readonly isEnabled: boolean;
  readonly clickable: boolean;
  readonly isLongClickable: boolean;
  readonly isCheckable: boolean;
  readonly isChecked: boolean;
  readonly isFocusable: boolean;
  readonly isFocused: boolean;
  readonly isPassword: boolean;
  readonly isScrollable: boolean;
  readonly isSelected: boolean;
  /** False for nodes that the phone reports but does not show. */
  readonly isVisible: boolean;

  readonly children: readonly AndroidNode[];
  /** Null for the root. */
  readonly parent: AndroidNode | null;

  /**
   * The first node, in this node and below, whose text or description equals `text`; if none does, the first that
   * contains it in any letter case. A regular expression is tested on both.
   */
  findTextOne(text: string | RegExp): AndroidNode | null;
  /** All nodes, in this node and below, whose text or description contains `text` in any letter case. */
  findText(text: string | RegExp): AndroidNode[];
  /** The first node, in this node and below, with this id: the full one, or only the name after `:id/`. */
  findById(viewId: string): AndroidNode | null;
  /** All nodes with this id. */
  findAllById(viewId: string): AndroidNode[];
  /** All nodes, in this node and below, that meet every condition: `screen.filterAdvanced(f => f.isEditText().isEnabled())`. */
  filterAdvanced(conditions: (filter: AndroidNodeFilter) => AndroidNodeFilter): AndroidNode[];
  /** This node and all below it, from top to bottom. */
  getAllNodes(): AndroidNode[];
  /** The same as `getAllNodes`. */
  allNodes(): AndroidNode[];

  /** Taps the middle of the node. */
  tap(): Promise<void>;
  doubleTap(): Promise<void>;
  /** Presses and holds the middle of the node. Default: 1,000 ms. */
  longPress(durationMs?: number): Promise<void>;
  /** Taps the middle of the node and types. With `clear` the field is emptied first. */
  writeText(text: string, options?: { clear?: boolean }): Promise<void>;
}

/** Conditions on a node. A node must meet all of them. */
interface AndroidNodeFilter {
  /** A button of any kind but radio buttons, by its class. */
  isButton(): AndroidNodeFilter;
  isEditText(): AndroidNodeFilter;
  isTextView(): AndroidNodeFilter;
  /** An image or an image button. */
  isImage(): AndroidNodeFilter;
  isCheckBox(): AndroidNodeFilter;
  isRadioButton(): AndroidNodeFilter;
  isSwitch(): AndroidNodeFilter;
  isWebView(): AndroidNodeFilter;

  isClickable(): AndroidNodeFilter;
  isLongClickable(): AndroidNodeFilter;
  isEnabled(): AndroidNodeFilter;
  isCheckable(): AndroidNodeFilter;
  isChecked(): AndroidNodeFilter;
  isFocusable(): AndroidNodeFilter;
  isFocused(): AndroidNodeFilter;
  isPassword(): AndroidNodeFilter;
  isScrollable(): AndroidNodeFilter;
  isSelected(): AndroidNodeFilter;
  isVisible(): AndroidNodeFilter;

  /** The text equals `text`; without an argument: there is any text. */
  hasText(text?: string): AndroidNodeFilter;
  /** The text contains `part`, in any letter case. */
  textContains(part: string): AndroidNodeFilter;
  textMatches(pattern: RegExp): AndroidNodeFilter;
  /** The description equals `description`; without an argument: there is any. */
  hasDescription(description?: string): AndroidNodeFilter;
  /** The description contains `part`, in any letter case. */
  descriptionContains(part: string): AndroidNodeFilter;
  /** The full id, or only the name after `:id/`; without an argument: there is any. */
  hasId(viewId?: string): AndroidNodeFilter;
  /** The full class, or only its last part. */
  hasClass(className: string): AndroidNodeFilter;
  hasPackage(packageName: string): AndroidNodeFilter;
  hasChildren(): AndroidNodeFilter;

  /** A condition of your own. */
  where(condition: (node: AndroidNode) => boolean): AndroidNodeFilter;
  /** The node does not meet the conditions. */
  not(conditions: (filter: AndroidNodeFilter) => AndroidNodeFilter): AndroidNodeFilter;
  /** The node meets at least one of the groups of conditions. */
  anyOf(...groups: ((filter: AndroidNodeFilter) => AndroidNodeFilter)[]): AndroidNodeFilter;
}
