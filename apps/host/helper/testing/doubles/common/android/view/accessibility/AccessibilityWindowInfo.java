package android.view.accessibility;

/** frameworks/base/core/java/android/view/accessibility/AccessibilityWindowInfo.java. */
public final class AccessibilityWindowInfo {
    private final AccessibilityNodeInfo root;

    public AccessibilityWindowInfo(AccessibilityNodeInfo root) {
        this.root = root;
    }

    public int getType() {
        return 1;
    }

    public boolean isActive() {
        return true;
    }

    public boolean isFocused() {
        return true;
    }

    public AccessibilityNodeInfo getRoot() {
        return root;
    }
}
