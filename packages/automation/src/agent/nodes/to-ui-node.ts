import type { UiNode } from '@phalanx/protocol';

/** A node and all below it as the phone told of them: the reverse of `createAndroidNode`. */
export function toUiNode(node: AndroidNode): UiNode {
  return {
    className: node.className,
    packageName: node.packageName,
    viewId: node.viewId ?? null,
    text: node.text ?? null,
    description: node.description ?? null,
    hintText: node.hintText,
    tooltipText: node.tooltipText ?? null,
    paneTitle: node.paneTitle ?? null,
    containerTitle: node.containerTitle ?? null,
    index: node.index,
    boundsInScreen: node.boundsInScreen,
    maxTextLength: node.maxTextLength,
    inputType: node.inputType,
    isShowingHintText: node.isShowingHintText,
    checkable: node.isCheckable,
    checked: node.isChecked,
    clickable: node.clickable,
    enabled: node.isEnabled,
    focusable: node.isFocusable,
    focused: node.isFocused,
    longClickable: node.isLongClickable,
    password: node.isPassword,
    scrollable: node.isScrollable,
    selected: node.isSelected,
    visible: node.isVisible,
    children: node.children.map(toUiNode),
  };
}
