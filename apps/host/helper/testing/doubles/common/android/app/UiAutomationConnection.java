package android.app;

/** frameworks/base/core/java/android/app/UiAutomationConnection.java: one public constructor without parameters. */
public final class UiAutomationConnection implements IUiAutomationConnection {
    public UiAutomationConnection() {}
}
