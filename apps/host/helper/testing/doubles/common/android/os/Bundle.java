package android.os;

/** frameworks/base/core/java/android/os/Bundle.java. */
public final class Bundle {
    public CharSequence text;

    public void putCharSequence(String key, CharSequence value) {
        text = value;
    }
}
