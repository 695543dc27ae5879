package android.app;

import android.accessibilityservice.AccessibilityServiceInfo;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityWindowInfo;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** What UiAutomation does in every release. The fault is the phone's state. */
class AutomationDouble {
    private static final String FAULT = System.getProperty("fault", "");
    private static int connections;
    private final AccessibilityServiceInfo info = new AccessibilityServiceInfo();
    int forgotten;
    int reads;

    void connected(String how) {
        // UiAutomationManager.registerUiTestAutomationServiceLocked.
        connections++;
        if (FAULT.equals("registered twice") && connections < 3)
            throw new IllegalStateException("UiAutomationService android.accessibilityservice.IAccessibilityServiceClient already registered!");
        System.err.println("connected by " + how);
    }

    public void disconnect() {
        System.err.println("disconnected");
    }

    public AccessibilityServiceInfo getServiceInfo() {
        return info;
    }

    public void setServiceInfo(AccessibilityServiceInfo wanted) {
        System.err.println("flags " + wanted.flags);
    }

    private AccessibilityNodeInfo root(String text) {
        AccessibilityNodeInfo root = new AccessibilityNodeInfo("android.widget.FrameLayout", null);
        AccessibilityNodeInfo hidden = new AccessibilityNodeInfo("android.view.View", "not seen");
        hidden.isVisible = false;
        AccessibilityNodeInfo field = new AccessibilityNodeInfo("android.widget.EditText", text);
        field.isField = true;
        root.children = Arrays.asList(null, hidden, field);
        return root;
    }

    public AccessibilityNodeInfo getRootInActiveWindow() {
        reads++;
        if (FAULT.equals("no root") || (FAULT.equals("late root") && reads < 4)) return null;
        return root("forgotten " + forgotten);
    }

    public List<AccessibilityWindowInfo> getWindows() {
        boolean isBare = FAULT.equals("no root");
        return Collections.singletonList(new AccessibilityWindowInfo(isBare ? null : root("window")));
    }

    public AccessibilityNodeInfo findFocus(int focus) {
        return FAULT.equals("no focus") ? null : root("typed").children.get(2);
    }
}
