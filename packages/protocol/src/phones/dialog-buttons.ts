import type { UiNode } from './phone-answers.ts';

/** Button of a dialog on the screen. */
export interface DialogButton {
  readonly node: UiNode;
  /** Text of the button; empty when it has none. */
  readonly label: string;
}

/** Buttons of a dialog. `accept` and `dismiss` are undefined when no button does so. */
export interface DialogButtons {
  readonly accept: DialogButton | undefined;
  readonly dismiss: DialogButton | undefined;
  /** All buttons, in the order of the tree. */
  readonly all: readonly DialogButton[];
  /** Returns everything that can be pressed by its label: the buttons, then the entries to choose from. */
  listChoices(): readonly DialogButton[];
}

/**
 * Kind of dialog, identified by the IDs of its buttons. Names are the part after `:id/`; the first one on the screen is
 * pressed.
 */
interface DialogKind {
  /** Pattern for the full IDs of all buttons. */
  readonly buttons: RegExp;
  readonly accept: readonly string[];
  readonly dismiss: readonly string[];
}

/**
 * Dialogs of Android with known IDs. Sources in AOSP: grant_permissions.xml and review_permissions.xml of the
 * permission controller, GrantPermissionsViewHandlerImpl.java; app_error_dialog.xml, app_anr_dialog.xml,
 * AppErrorDialog.java (which hides "close" in Android 7 where the app can be restarted); resolver_list.xml,
 * ResolverActivity.java; install_start.xml, uninstall_confirm.xml of the package installer up to Android 9;
 * autofill_save.xml; immersive_mode_cling.xml; biometric_prompt_button_bar.xml of SystemUI.
 */
const kinds: readonly DialogKind[] = [
  {
    buttons: /:id\/permission_\w+_button$/,
    // The smallest permission that the app asked for comes first: while in use, then always, then only this time.
    accept: [
      'permission_allow_foreground_only_button',
      'permission_allow_button',
      'permission_allow_all_button',
      'permission_allow_always_button',
      'permission_allow_one_time_button',
      'permission_allow_selected_button',
    ],
    dismiss: [
      'permission_deny_button',
      'permission_deny_and_dont_ask_again_button',
      'permission_dont_allow_more_selected_button',
      'permission_no_upgrade_button',
      'permission_no_upgrade_one_time_button',
      'permission_no_upgrade_and_dont_ask_again_button',
      'permission_no_upgrade_one_time_and_dont_ask_again_button',
    ],
  },
  {
    buttons: /^android:id\/aerr_(?:close|wait|restart|app_info|report|mute)$/,
    accept: ['aerr_close', 'aerr_restart', 'aerr_wait'],
    dismiss: ['aerr_wait', 'aerr_close', 'aerr_restart'],
  },
  // App choosers have no button that dismisses.
  { buttons: /:id\/button_(?:once|always)$/, accept: ['button_once', 'button_always'], dismiss: [] },
  {
    buttons: /packageinstaller:id\/(?:ok|cancel|done|launch)_button$/,
    accept: ['ok_button', 'done_button', 'launch_button'],
    dismiss: ['cancel_button', 'done_button'],
  },
  {
    buttons: /(?:packageinstaller|permissioncontroller):id\/(?:continue|cancel)_button$/,
    accept: ['continue_button'],
    dismiss: ['cancel_button'],
  },
  {
    buttons: /^android:id\/autofill_save_(?:yes|no)$/,
    accept: ['autofill_save_yes'],
    dismiss: ['autofill_save_no'],
  },
  {
    buttons: /^android:id\/button[123]$/,
    // A single button both accepts and dismisses, as with the UiAutomator2 server.
    accept: ['button1', 'button2', 'button3'],
    dismiss: ['button2', 'button3', 'button1'],
  },
  // A finger or a face accepts; some apps require a confirmation after a face. "Use PIN" does neither.
  {
    buttons: /^com\.android\.systemui:id\/button_(?:negative|cancel|use_credential|confirm|try_again)$/,
    accept: ['button_confirm'],
    dismiss: ['button_negative', 'button_cancel'],
  },
  { buttons: /^android:id\/ok$/, accept: ['ok'], dismiss: ['ok'] },
];

/**
 * Finds the dialog of a window: one of Android by the IDs of its buttons, else one that an app draws itself, which is a
 * window with a margin, a text, and buttons. Undefined for any other window.
 */
export function findDialogButtons(root: UiNode): DialogButtons | undefined {
  const nodes = shownNodes(root);
  return findKnownDialog(nodes) ?? findPlainDialog(root, nodes);
}

/** Finds only the dialogs of Android, which are recognized in any window. */
export function findSystemDialogButtons(root: UiNode): DialogButtons | undefined {
  return findKnownDialog(shownNodes(root));
}

/** Returns all visible nodes without recursion. The size of the tree is limited where it is read. */
function shownNodes(root: UiNode): UiNode[] {
  const found: UiNode[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!node.visible) continue;
    found.push(node);
    waiting.push(...node.children.toReversed());
  }
  return found;
}

function findKnownDialog(nodes: readonly UiNode[]): DialogButtons | undefined {
  for (const kind of kinds) {
    const all = nodes.filter(({ viewId }) => viewId !== null && kind.buttons.test(viewId)).map(buttonOf);
    if (all.length === 0) continue;
    const first = (names: readonly string[]): DialogButton | undefined =>
      names.flatMap((name) => all.filter(({ node }) => node.viewId?.endsWith(`/${name}`) === true))[0];
    return dialogOf(nodes, { all, accept: first(kind.accept), dismiss: first(kind.dismiss) });
  }
  return undefined;
}

/**
 * Finds a dialog of Compose or of a custom layout, which has no IDs. The window of a dialog touches neither the left
 * nor the top edge of the display, unlike that of a screen; a menu has no buttons. In a row, the last button confirms;
 * in a column, the upper one, as in Material Design.
 */
function findPlainDialog(root: UiNode, nodes: readonly UiNode[]): DialogButtons | undefined {
  const { left, top } = root.boundsInScreen;
  if (left <= 0 || top <= 0) return undefined;
  const buttons = nodes.filter((node) => node.clickable && hasButtonRole(node));
  const inButtons = new Set(buttons.flatMap((button) => shownNodes(button)));
  const saysSomething = nodes.some((node) => !inButtons.has(node) && textOf(node) !== '');
  const all = buttons.map(buttonOf).filter(({ label }) => label !== '');
  if (all.length === 0 || !saysSomething) return undefined;
  return dialogOf(nodes, { all, ...orderOf(all) });
}

function orderOf(all: readonly DialogButton[]): Pick<DialogButtons, 'accept' | 'dismiss'> {
  const byPlace = all.toSorted((a, b) => middleOf(a) - middleOf(b));
  const lowest = byPlace.at(-1);
  if (lowest === undefined) return { accept: undefined, dismiss: undefined };
  const { top, bottom } = lowest.node.boundsInScreen;
  const row = all.filter((button) => middleOf(button) >= top && middleOf(button) <= bottom);
  if (row.length > 1) return { accept: row.at(-1), dismiss: row.at(-2) };
  return { accept: byPlace[0], dismiss: lowest };
}

function middleOf({ node: { boundsInScreen } }: DialogButton): number {
  return (boundsInScreen.top + boundsInScreen.bottom) / 2;
}

/**
 * Whether the node is a button. Compose puts a node with the button's class beside the text, below the clickable node.
 */
function hasButtonRole(node: UiNode): boolean {
  return isButton(node) || node.children.some(isButton);
}

const isButton = ({ className }: UiNode): boolean => /(?:^|\.)\w*Button$/.test(className ?? '');

function dialogOf(nodes: readonly UiNode[], dialog: Omit<DialogButtons, 'listChoices'>): DialogButtons {
  return {
    ...dialog,
    listChoices: () => [...dialog.all, ...nodes.filter(({ clickable }) => clickable).map(buttonOf)],
  };
}

function buttonOf(node: UiNode): DialogButton {
  return { node, label: labelOf(node) };
}

/** Returns the text of a node, or the first text in its descendants. */
function labelOf(node: UiNode): string {
  const own = textOf(node);
  if (own !== '') return own;
  const first = shownNodes(node).find((below) => textOf(below) !== '');
  return first === undefined ? '' : textOf(first);
}

const textOf = ({ text, description }: UiNode): string => text ?? description ?? '';
