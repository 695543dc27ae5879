/**
 * A node of Android's accessibility tree, as it was when the screen was read.
 *
 * Texts are compared as people see them, by searches, filters, waits, screen signs, `act` and masks: white
 * space of all kinds (no-break spaces, line feeds, several in a row) is one space, invisible characters are
 * left out (soft hyphens, zero-width and direction marks), composed and decomposed letters are equal (NFC), and
 * letter case does not count. Among the nodes that have a text, the best match goes first: the text is equal,
 * equal in another letter case, its first line is equal, another line is equal, a part of it is equal. For
 * example, `Home` matches a tab whose text is `Home`, a line feed and `Tab 1 of 3` better than `Homework`. A
 * text that ends with `…` also matches the beginning of a longer one. Regular expressions are matched against
 * the characters of the phone, which `text` and `description` return, too.
 *
 * @example
 * await agent.actions.stopApp('com.android.settings');
 * await agent.actions.launchApp('com.android.settings');
 * const row = await agent.actions.waitForText('BLUETOOTH');
 * console.log(row.text); // Bluetooth
 */
interface AndroidNode {
  /** A UUID that is new each time the screen is read, so it never names the same node twice. */
  readonly falseId: string;
  /** Full resource id, `package:id/name`. */
  readonly viewId?: string;
  /** Android widget class, such as `android.widget.Button`. */
  readonly className: string | null;
  /** The owning app, such as `com.android.settings`. */
  readonly packageName: string;

  /** Bounds of the node in pixels of the screen; `right` and `bottom` lie just outside. */
  readonly boundsInScreen: { left: number; top: number; right: number; bottom: number };
  /** Position among the parent's children, from 0. */
  readonly index: number;

  /** The text with the characters of the phone, including invisible ones. */
  readonly text?: string;
  /** Content description. */
  readonly description?: string;
  readonly hintText: string | null;
  /** Maximum number of characters; -1 when the phone does not report it. */
  readonly maxTextLength: number;
  /** Android's input type as text; empty when the phone does not report it. */
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
   * The node, in this node and below, whose text or description fits `text` best: an equal one, then one whose first line
   * it is, then one that contains it, the first of those that fit equally well. A regular expression is tested on both.
   */
  findTextOne(text: string | RegExp): AndroidNode | null;
  /** All nodes, in this node and below, whose text or description contains `text`, in the order of the tree. */
  findText(text: string | RegExp): AndroidNode[];
  /** The first node, in this node and below, with this id: the full one, or only the name after `:id/`. */
  findById(viewId: string): AndroidNode | null;
  /** All nodes with this id. */
  findAllById(viewId: string): AndroidNode[];
  /**
   * All nodes, in this node and below, that meet every condition: `screen.filterAdvanced(f => f.isEditText().isEnabled())`.
   * In the order of the tree; with `below`, `above`, `leftOf` or `rightOf`, the nearest come first.
   */
  filterAdvanced(conditions: NodeConditions): AndroidNode[];
  /** The first node that `filterAdvanced` returns; null when there is none. */
  filterOne(conditions: NodeConditions): AndroidNode | null;
  /** This node and all below it, from top to bottom. */
  getAllNodes(): AndroidNode[];
  /** The same as `getAllNodes`. */
  allNodes(): AndroidNode[];

  /**
   * Taps the node: its middle, or a point beside whatever lies over the middle. Right before the touch, the
   * host reads all windows and finds the node again, even if it has moved, and it touches nothing else. Rejects
   * with `covered` when something that takes touches lies over the node (the keyboard, a bar, a notification, a
   * dialog), with `not_in_view` when too little of the node is shown, and with `gone` when it is no longer on
   * the screen or can't be told apart from equal nodes. `agent.actions.tap` touches a point, whatever is there.
   */
  tap(options?: TouchOptions): Promise<void>;
  /** Taps the node twice. Rejects as `tap` does. */
  doubleTap(options?: TouchOptions): Promise<void>;
  /** Presses and holds the node. Default 1,000 ms. Rejects as `tap` does. */
  longPress(durationMs?: number, options?: TouchOptions): Promise<void>;
  /**
   * Taps the node and types. With `clear`, the field is emptied first. Rejects as `tap` and `writeText` of
   * `agent.actions` do.
   */
  writeText(text: string, options?: TouchOptions & { clear?: boolean }): Promise<void>;
}

/**
 * Options of a touch on a node.
 *
 * @example
 * await agent.actions.stopApp('dev.phalanx.sample.form');
 * await agent.actions.launchApp('dev.phalanx.sample.form');
 * const field = await agent.actions.waitForNode((f) => f.isEditText());
 * try {
 *   await field.tap();
 * } catch (error) {
 *   if (!(error instanceof AgentError) || error.code !== 'covered') throw error;
 *   await field.tap({ closeKeyboard: true });
 * }
 */
interface TouchOptions {
  /**
   * Closes the keyboard when it lies over the node, and then touches the node at its new place. Default: the
   * touch rejects with `covered`.
   */
  closeKeyboard?: boolean;
}

/**
 * Conditions on a node. A node must meet all of them.
 *
 * @example
 * await agent.actions.stopApp('com.android.settings');
 * await agent.actions.launchApp('com.android.settings');
 * const toggle = await agent.actions.waitForNode((f) => f.isSwitch().rightOf((g) => g.hasText('Bluetooth')));
 * console.log(toggle.isChecked);
 */
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

  /**
   * The text equals `text`, in any letter case unless a node of the screen has it in exactly this one; without
   * an argument: the node has a text.
   */
  hasText(text?: string): AndroidNodeFilter;
  /** The text contains `part`. */
  textContains(part: string): AndroidNodeFilter;
  /**
   * The pattern matches the text with the characters of the phone: `/Pay\snow/` also matches a no-break space,
   * `/Pay now/` does not.
   */
  textMatches(pattern: RegExp): AndroidNodeFilter;
  /** The description equals `description`, compared as by `hasText`; without an argument: the node has a description. */
  hasDescription(description?: string): AndroidNodeFilter;
  /** The description contains `part`. */
  descriptionContains(part: string): AndroidNodeFilter;
  /** The node has this id: the full one, or only the name after `:id/`; without an argument: any id. */
  hasId(viewId?: string): AndroidNodeFilter;
  /** The node has this class: the full name, or only its last part. */
  hasClass(className: string): AndroidNodeFilter;
  hasPackage(packageName: string): AndroidNodeFilter;
  hasChildren(): AndroidNodeFilter;

  /** A condition of your own. */
  where(condition: (node: AndroidNode) => boolean): AndroidNodeFilter;
  /** The node does not meet the conditions. */
  not(conditions: NodeConditions): AndroidNodeFilter;
  /** The node meets at least one of the groups of conditions. */
  anyOf(...groups: NodeConditions[]): AndroidNodeFilter;

  /**
   * The node is wholly below an anchor on the screen; their edges may touch. Anchors are looked for on the whole screen.
   * `screen.filterOne(f => f.isEditText().below(g => g.hasText('Email')))` is the field under a label.
   */
  below(anchor: NodeAnchor): AndroidNodeFilter;
  /** The node is wholly above an anchor. */
  above(anchor: NodeAnchor): AndroidNodeFilter;
  /** The node is wholly to the left of an anchor, at whatever height: the nearest come first. */
  leftOf(anchor: NodeAnchor): AndroidNodeFilter;
  /** The node is wholly to the right of an anchor, at whatever height: the nearest come first. */
  rightOf(anchor: NodeAnchor): AndroidNodeFilter;
  /** An anchor is among the node's ancestors, however far up. */
  childOf(anchor: NodeAnchor): AndroidNodeFilter;
  /** A direct child meets the conditions. */
  hasChild(conditions: NodeConditions): AndroidNodeFilter;
  /** A node below this one, however deep, meets the conditions. */
  hasDescendant(conditions: NodeConditions): AndroidNodeFilter;
  /** The node has this position among its parent's children, from 0. */
  hasIndex(index: number): AndroidNodeFilter;
  /**
   * Selects one of the nodes that meet the other conditions, wherever in the chain it stands: 0 is the first,
   * -1 the last. Throws a `TypeError` within `not`, `anyOf`, `hasChild` and `hasDescendant`, which look at one
   * node at a time.
   */
  nth(position: number): AndroidNodeFilter;
}

/** Conditions, written as a function of the filter that they begin with: `f => f.isButton().isEnabled()`. */
type NodeConditions = (filter: AndroidNodeFilter) => AndroidNodeFilter;

/** The anchor of a condition such as `below`: a node, or every node of the screen that meets conditions. */
type NodeAnchor = AndroidNode | NodeConditions;
