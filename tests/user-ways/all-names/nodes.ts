import { calls, openForm, openSettings } from './calls';

type Plain = Omit<AndroidNode, 'tap' | 'doubleTap' | 'longPress' | 'writeText'>;

async function reading(screen: AndroidNode): Promise<void> {
  const title = screen.findTextOne('Bluetooth');
  const row = title?.parent;
  if (!title || !row) throw new Error('the settings show no Bluetooth');
  const { left, top, right, bottom } = title.boundsInScreen;
  await calls<Plain>('AndroidNode', {
    falseId: () => /^[\da-f-]{36}$/.test(title.falseId),
    viewId: () => screen.getAllNodes().some((node) => node.viewId?.includes(':id/') === true),
    className: () => title.className === 'android.widget.TextView',
    packageName: () => title.packageName === 'com.android.settings',
    boundsInScreen: () => left >= 0 && top > 0 && right > left && bottom > top,
    index: () => row.children[title.index]?.text === 'Bluetooth',
    text: () => title.text === 'Bluetooth',
    description: () => title.description === undefined,
    hintText: () => title.hintText === null,
    maxTextLength: () => title.maxTextLength === -1,
    inputType: () => title.inputType === '',
    isShowingHintText: () => !title.isShowingHintText,
    tooltipText: () => (title.tooltipText ?? null) === null,
    paneTitle: () => (title.paneTitle ?? null) === null,
    containerTitle: () => (title.containerTitle ?? null) === null,
    isEnabled: () => title.isEnabled,
    clickable: () => !title.clickable && screen.allNodes().some((node) => node.clickable),
    isLongClickable: () => !title.isLongClickable,
    isCheckable: () => screen.allNodes().some((node) => node.isCheckable),
    isChecked: () => screen.allNodes().some((node) => node.isChecked),
    isFocusable: () => screen.allNodes().some((node) => node.isFocusable),
    isFocused: () => !title.isFocused,
    isPassword: () => !title.isPassword,
    isScrollable: () => screen.allNodes().some((node) => node.isScrollable),
    isSelected: () => !title.isSelected,
    isVisible: () => title.isVisible,
    children: () => title.children.length === 0 && row.children.length > 0,
    parent: () => screen.parent === null && row.parent !== null,
    findTextOne: () =>
      screen.findTextOne(/^Blue/)?.text === 'Bluetooth' && screen.findTextOne('nowhere') === null,
    findText: () => screen.findText('bluetooth').length > 0,
    findById: () => screen.findById('nothing') === null,
    findAllById: () => screen.findAllById('nothing').length === 0,
    filterAdvanced: () => screen.filterAdvanced((filter) => filter.hasText('Bluetooth')).length === 1,
    filterOne: () => screen.filterOne((filter) => filter.hasText('Bluetooth')) === title,
    getAllNodes: () => screen.getAllNodes()[0] === screen,
    allNodes: () => screen.allNodes().length === screen.getAllNodes().length,
  });
}

async function filtering(screen: AndroidNode, fields: AndroidNode): Promise<void> {
  const some = (conditions: (filter: AndroidNodeFilter) => AndroidNodeFilter): boolean =>
    screen.filterAdvanced(conditions).length > 0;
  const count = (conditions: (filter: AndroidNodeFilter) => AndroidNodeFilter): number =>
    fields.filterAdvanced(conditions).length + screen.filterAdvanced(conditions).length;
  const all = fields.allNodes().length + screen.allNodes().length;
  await calls<AndroidNodeFilter>('AndroidNodeFilter', {
    isButton: () => count((f) => f.isButton()) < all,
    isEditText: () => fields.filterAdvanced((f) => f.isEditText()).length > 0,
    isTextView: () => some((f) => f.isTextView()),
    isImage: () => count((f) => f.isImage()) < all,
    isCheckBox: () => count((f) => f.isCheckBox()) < all,
    isRadioButton: () => count((f) => f.isRadioButton()) < all,
    isSwitch: () => some((f) => f.isSwitch()),
    isWebView: () => count((f) => f.isWebView()) === 0,
    isClickable: () => some((f) => f.isClickable()),
    isLongClickable: () => count((f) => f.isLongClickable()) < all,
    isEnabled: () => some((f) => f.isEnabled()),
    isCheckable: () => some((f) => f.isCheckable()),
    isChecked: () => some((f) => f.isChecked()),
    isFocusable: () => some((f) => f.isFocusable()),
    isFocused: () => count((f) => f.isFocused()) < all,
    isPassword: () => count((f) => f.isPassword()) < all,
    isScrollable: () => some((f) => f.isScrollable()),
    isSelected: () => count((f) => f.isSelected()) < all,
    isVisible: () => some((f) => f.isVisible()),
    hasText: () => some((f) => f.hasText()) && some((f) => f.hasText('Bluetooth')),
    textContains: () => some((f) => f.textContains('BLUETOO')),
    textMatches: () => some((f) => f.textMatches(/^Blue/)),
    hasDescription: () => count((f) => f.hasDescription()) < all,
    descriptionContains: () => !some((f) => f.descriptionContains('nowhere')),
    hasId: () => fields.filterAdvanced((f) => f.hasId('name')).length === 1,
    hasClass: () => some((f) => f.hasClass('TextView')),
    hasPackage: () => some((f) => f.hasPackage('com.android.settings')),
    hasChildren: () => some((f) => f.hasChildren()),
    below: () => screen.filterOne((f) => f.hasText().below((g) => g.hasText('Network & internet'))) !== null,
    above: () =>
      screen.filterOne((f) => f.hasText('Bluetooth').above((g) => g.hasText('Bluetooth'))) === null,
    leftOf: () => some((f) => f.hasText('Bluetooth').leftOf((g) => g.isSwitch())),
    rightOf: () => some((f) => f.isSwitch().rightOf((g) => g.hasText('Bluetooth'))),
    childOf: () => some((f) => f.hasText('Bluetooth').childOf((g) => g.isScrollable())),
    hasChild: () => screen.filterOne((f) => f.hasChild((g) => g.hasText('Bluetooth'))) !== null,
    hasDescendant: () => screen.filterOne((f) => f.hasDescendant((g) => g.hasText('Bluetooth'))) === screen,
    hasIndex: () => some((f) => f.hasText().hasIndex(0)),
    nth: () => screen.filterAdvanced((f) => f.hasText().nth(-1)).length === 1,
    where: () => some((f) => f.where((node) => node.text === 'Bluetooth')),
    not: () => count((f) => f.not((g) => g.isVisible())) < all,
    anyOf: () =>
      some((f) =>
        f.anyOf(
          (g) => g.hasText('Bluetooth'),
          (g) => g.isWebView(),
        ),
      ),
  });
}

async function touching(): Promise<void> {
  const { actions } = agent;
  await calls<Pick<AndroidNode, 'tap' | 'doubleTap' | 'longPress' | 'writeText'>>('AndroidNode', {
    tap: async () => {
      await (await openForm()).tap();
      return (await actions.waitForId('name')).isFocused;
    },
    writeText: async () => {
      await (await actions.waitForId('name')).writeText('Ada 🏔', { clear: true });
      return (await actions.waitForText('Ada 🏔')).text === 'Ada 🏔';
    },
    doubleTap: async () => {
      await (await actions.waitForId('name')).doubleTap({ closeKeyboard: true });
      return true;
    },
    longPress: async () => {
      await (await actions.waitForId('name')).longPress(50);
      return true;
    },
  });
  await calls<TouchOptions>('TouchOptions', {
    closeKeyboard: async () => {
      await (await actions.waitForId('name')).tap({ closeKeyboard: true });
      return (await actions.waitForId('name')).isFocused;
    },
  });
}

export async function nodes(): Promise<void> {
  const fields = await openForm();
  let root = fields;
  while (root.parent) root = root.parent;
  await openSettings();
  const screen = await agent.actions.screenContent();
  await reading(screen);
  await filtering(screen, root);
  await touching();
}
