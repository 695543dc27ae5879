package android.view;

/** frameworks/base/core/java/android/view/KeyEvent.java. */
public class KeyEvent extends InputEvent {
    private final String text;

    public KeyEvent(long downTime, long eventTime, int action, int code, int repeat, int meta, int device, int scan, int flags, int source) {
        text = "key " + code + (action == 0 ? " down" : " up");
    }

    @Override
    public String toString() {
        return text;
    }
}
