package android.view.accessibility;

/** android-8.0.0_r1, frameworks/base/core/java/android/view/accessibility/AccessibilityInteractionClient.java: clearCache(). */
public final class AccessibilityInteractionClient {
    public static android.app.UiAutomation automation;

    public static AccessibilityInteractionClient getInstance() {
        return new AccessibilityInteractionClient();
    }

    public void clearCache() {
        android.app.UiAutomation.forget(automation);
    }
}
