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

    public void getBoundsInScreen(android.graphics.Rect bounds) {
        if (root != null) root.getBoundsInScreen(bounds);
    }

    public AccessibilityNodeInfo getRoot() {
        return root;
    }
}
