import type { UiNode } from '@phalanx/protocol';

/** Returns a node of the app `com.shop` with these values and children, as large as the screen and without texts. */
export function nodeOf(values: Partial<UiNode>, ...children: UiNode[]): UiNode {
  return {
    className: 'android.widget.FrameLayout',
    packageName: 'com.shop',
    viewId: null,
    text: null,
    description: null,
    hintText: null,
    tooltipText: null,
    paneTitle: null,
    containerTitle: null,
    index: 0,
    boundsInScreen: { left: 0, top: 0, right: 1080, bottom: 2400 },
    maxTextLength: -1,
    inputType: '',
    isShowingHintText: false,
    checkable: false,
    checked: false,
    clickable: false,
    enabled: true,
    focusable: false,
    focused: false,
    longClickable: false,
    password: false,
    scrollable: false,
    selected: false,
    visible: true,
    ...values,
    children,
  };
}
