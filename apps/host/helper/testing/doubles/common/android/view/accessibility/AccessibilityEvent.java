package android.view.accessibility;

import java.util.Collections;
import java.util.List;

/** frameworks/base/core/java/android/view/accessibility/AccessibilityEvent.java. */
public final class AccessibilityEvent {
    public int getEventType() {
        return 64;
    }

    public CharSequence getPackageName() {
        return "com.example";
    }

    public List<CharSequence> getText() {
        return Collections.<CharSequence>singletonList("Saved");
    }
}
