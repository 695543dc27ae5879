package dev.phalanx.helper;

import android.graphics.Rect;
import android.view.accessibility.AccessibilityNodeInfo;
import java.lang.reflect.Method;

/** Writes a node with all below it that can be seen. */
final class Walk {
    private static final Method HINT = getter("getHintText");
    private static final Method SHOWS_HINT = getter("isShowingHintText");
    private static final Method TOOLTIP = getter("getTooltipText");
    private static final Method PANE = getter("getPaneTitle");
    private static final Method CONTAINER = getter("getContainerTitle");

    private static final int HAS_HINT = 1 << 12;
    private static final int HAS_TOOLTIP = 1 << 13;
    private static final int HAS_PANE = 1 << 14;
    private static final int HAS_CONTAINER = 1 << 15;
    private static final int IS_FIELD = 1 << 16;

    private final Rect rect = new Rect();
    private final Tree tree;

    Walk(Tree tree) {
        this.tree = tree;
    }

    private static Method getter(String name) {
        return Hidden.find(AccessibilityNodeInfo.class, name);
    }

    void write(AccessibilityNodeInfo node) throws Exception {
        tree.begin(0);
        write(node, 0, 0, 1);
    }

    private void write(AccessibilityNodeInfo node, int parentLeft, int parentTop, int depth) throws Exception {
        node.getBoundsInScreen(rect);
        int left = rect.left;
        int top = rect.top;
        tree.signed(left - parentLeft);
        tree.signed(top - parentTop);
        tree.signed(rect.right - left);
        tree.signed(rect.bottom - top);
        writeTexts(node);
        int count = node.getChildCount();
        tree.number(count);
        for (int at = 0; at < count; at++) {
            AccessibilityNodeInfo child = node.getChild(at);
            boolean isWritten = child != null && child.isVisibleToUser() && tree.begin(depth);
            tree.number(isWritten ? 1 : 0);
            if (isWritten) write(child, left, top, depth + 1);
        }
    }

    private void writeTexts(AccessibilityNodeInfo node) throws Exception {
        CharSequence hint = text(node, HINT);
        CharSequence tooltip = text(node, TOOLTIP);
        CharSequence pane = text(node, PANE);
        CharSequence container = text(node, CONTAINER);
        boolean isField = node.getInputType() != 0 || node.getMaxTextLength() > 0;
        tree.text(node.getClassName());
        tree.text(node.getPackageName());
        tree.text(node.getViewIdResourceName());
        tree.text(node.getText());
        tree.text(node.getContentDescription());
        int flags = flags(node);
        if (hint != null) flags |= HAS_HINT;
        if (tooltip != null) flags |= HAS_TOOLTIP;
        if (pane != null) flags |= HAS_PANE;
        if (container != null) flags |= HAS_CONTAINER;
        if (isField) flags |= IS_FIELD;
        tree.number(flags);
        if (hint != null) tree.text(hint);
        if (tooltip != null) tree.text(tooltip);
        if (pane != null) tree.text(pane);
        if (container != null) tree.text(container);
        if (!isField) return;
        tree.number(node.getInputType());
        tree.signed(node.getMaxTextLength());
    }

    private static CharSequence text(AccessibilityNodeInfo node, Method getter) throws Exception {
        return getter == null ? null : (CharSequence) Hidden.call(node, getter);
    }

    private static int flags(AccessibilityNodeInfo node) throws Exception {
        int flags = 0;
        if (node.isCheckable()) flags |= 1;
        if (node.isChecked()) flags |= 1 << 1;
        if (node.isClickable()) flags |= 1 << 2;
        if (node.isEnabled()) flags |= 1 << 3;
        if (node.isFocusable()) flags |= 1 << 4;
        if (node.isFocused()) flags |= 1 << 5;
        if (node.isLongClickable()) flags |= 1 << 6;
        if (node.isPassword()) flags |= 1 << 7;
        if (node.isScrollable()) flags |= 1 << 8;
        if (node.isSelected()) flags |= 1 << 9;
        if (node.isVisibleToUser()) flags |= 1 << 10;
        if (showsHint(node)) flags |= 1 << 11;
        return flags;
    }

    static boolean showsHint(AccessibilityNodeInfo node) throws Exception {
        return SHOWS_HINT != null && Boolean.TRUE.equals(Hidden.call(node, SHOWS_HINT));
    }
}
