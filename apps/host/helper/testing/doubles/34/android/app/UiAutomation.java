package android.app;

import android.os.Looper;
import android.view.accessibility.AccessibilityEvent;

/** android-14.0.0_r1, frameworks/base/core/java/android/app/UiAutomation.java: (int displayId, Looper, IUiAutomationConnection), connectWithTimeout(int, long), clearCache(). */
public final class UiAutomation extends AutomationDouble {
    public interface OnAccessibilityEventListener {
        void onAccessibilityEvent(AccessibilityEvent event);
    }

    public UiAutomation(int displayId, Looper looper, IUiAutomationConnection connection) {
        if (Looper.getMainLooper() == null) throw new IllegalStateException("no main looper");
    }

    public void connectWithTimeout(int flags, long timeoutMillis) {
        connected("connectWithTimeout " + flags);
    }

    public boolean clearCache() {
        forgotten++;
        return true;
    }

    public void setOnAccessibilityEventListener(OnAccessibilityEventListener listener) {
        listener.onAccessibilityEvent(new AccessibilityEvent());
    }

    public android.graphics.Bitmap takeScreenshot() {
        return null;
    }
}
