package android.content;

/** frameworks/base/core/java/android/content/ClipData.java. */
public class ClipData {
    private final CharSequence text;

    private ClipData(CharSequence text) {
        this.text = text;
    }

    public static ClipData newPlainText(CharSequence label, CharSequence text) {
        return new ClipData(text);
    }

    public int getItemCount() {
        return 1;
    }

    public Item getItemAt(int at) {
        return new Item();
    }

    public class Item {
        public CharSequence getText() {
            return text;
        }
    }
}
