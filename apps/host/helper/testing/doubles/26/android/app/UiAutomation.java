package android.app;

import android.os.Looper;
import android.view.accessibility.AccessibilityEvent;

/** android-8.0.0_r1, frameworks/base/core/java/android/app/UiAutomation.java: (Looper, IUiAutomationConnection), connect(int). */
public final class UiAutomation extends AutomationDouble {
    public interface OnAccessibilityEventListener {
        void onAccessibilityEvent(AccessibilityEvent event);
    }

    public UiAutomation(Looper looper, IUiAutomationConnection connection) {
        if (Looper.getMainLooper() == null) throw new IllegalStateException("no main looper");
        android.view.accessibility.AccessibilityInteractionClient.automation = this;
    }

    public void connect(int flags) {
        connected("connect " + flags);
    }

    public void setOnAccessibilityEventListener(OnAccessibilityEventListener listener) {
        listener.onAccessibilityEvent(new AccessibilityEvent());
    }

    public android.graphics.Bitmap takeScreenshot() {
        return null;
    }

    public static void forget(UiAutomation automation) {
        automation.forgotten++;
    }
}
