package android.view.accessibility;

import android.graphics.Rect;
import android.os.Bundle;
import java.util.Collections;
import java.util.List;

/** frameworks/base/core/java/android/view/accessibility/AccessibilityNodeInfo.java. */
public class AccessibilityNodeInfo {
    public List<AccessibilityNodeInfo> children = Collections.emptyList();
    public boolean isVisible = true;
    public boolean isField;
    private final String type;
    private final String text;

    public AccessibilityNodeInfo(String type, String text) {
        this.type = type;
        this.text = text;
    }

    public void getBoundsInScreen(Rect rect) {
        rect.left = -3;
        rect.top = 5;
        rect.right = 100;
        rect.bottom = 50;
    }

    public CharSequence getClassName() {
        return type;
    }

    public CharSequence getPackageName() {
        return "com.example";
    }

    public String getViewIdResourceName() {
        return null;
    }

    public CharSequence getText() {
        return text;
    }

    public CharSequence getContentDescription() {
        return null;
    }

    /** Since 26. */
    public CharSequence getHintText() {
        return isField ? "Name" : null;
    }

    public boolean isShowingHintText() {
        return false;
    }

    public boolean isCheckable() {
        return false;
    }

    public boolean isChecked() {
        return false;
    }

    public boolean isClickable() {
        return isField;
    }

    public boolean isEnabled() {
        return true;
    }

    public boolean isFocusable() {
        return isField;
    }

    public boolean isFocused() {
        return isField;
    }

    public boolean isLongClickable() {
        return false;
    }

    public boolean isPassword() {
        return false;
    }

    public boolean isScrollable() {
        return false;
    }

    public boolean isSelected() {
        return false;
    }

    public boolean isVisibleToUser() {
        return isVisible;
    }

    public boolean isEditable() {
        return isField;
    }

    public int getInputType() {
        return isField ? 1 : 0;
    }

    public int getMaxTextLength() {
        return -1;
    }

    public int getChildCount() {
        return children.size();
    }

    public AccessibilityNodeInfo getChild(int at) {
        return children.get(at);
    }

    public boolean performAction(int action, Bundle arguments) {
        System.err.println("action " + action + " " + arguments.text);
        return true;
    }
}
