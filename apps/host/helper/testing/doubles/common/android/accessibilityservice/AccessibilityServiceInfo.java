package android.accessibilityservice;

/** frameworks/base/core/java/android/accessibilityservice/AccessibilityServiceInfo.java. */
public class AccessibilityServiceInfo {
    public int eventTypes;
    public int flags;
    public long notificationTimeout;
}
