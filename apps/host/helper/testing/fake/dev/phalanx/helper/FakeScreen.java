package dev.phalanx.helper;

/** A screen without Android: a list and a field whose change is told, but for texts that say otherwise. */
public final class FakeScreen implements Screen {
    private final int rows = Integer.getInteger("rows", 3);
    private Changes changes;
    private String clipboard = "";
    private String text = "";

    @Override
    public int sdk() {
        return 99;
    }

    @Override
    public void listen(Changes listener) {
        changes = listener;
    }

    @Override
    public void read(Tree tree, boolean allWindows) throws Failure {
        if (text.equals("untold, no root")) throw new Failure(Failure.NO_ROOT, "no windows");
        tree.number(1);
        tree.number(allWindows ? 2 : 1);
        window(tree);
        if (allWindows) window(tree);
    }

    @Override
    public void readWindows(Tree tree) {
        tree.number(2);
        touchable(tree, 2, "com.example.keyboard", 60);
        touchable(tree, 1, "com.example", 0);
    }

    private static void touchable(Tree tree, int type, String app, int top) {
        tree.number(type);
        tree.text(app);
        tree.signed(-5);
        tree.signed(top);
        tree.signed(1075);
        tree.signed(97);
    }

    private void window(Tree tree) {
        tree.begin(0);
        node(tree, -5, 7, 1080, "android.widget.FrameLayout", null, null, 1 << 3 | 1 << 10);
        tree.number(rows + 1);
        // A child that Android does not give.
        tree.number(0);
        for (int row = 0; row < rows; row++) {
            boolean isWritten = tree.begin(1);
            tree.number(isWritten ? 1 : 0);
            if (!isWritten) continue;
            boolean isField = row == 1;
            int flags = 1 << 2 | 1 << 10 | (isField ? 1 << 12 | 1 << 16 : 0);
            node(tree, 10, 100 * row, 500, "android.widget.TextView", isField ? text : "Zeile " + row + " 日本 😀", "id/r" + row, flags);
            if (isField) {
                tree.text("A hint");
                tree.number(0x81);
                tree.signed(-1);
            }
            tree.number(0);
        }
    }

    private static void node(Tree tree, int x, int y, int width, String type, String text, String id, int flags) {
        tree.signed(x);
        tree.signed(y);
        tree.signed(width);
        tree.signed(90);
        tree.text(type);
        tree.text("com.example");
        tree.text(id);
        tree.text(text);
        tree.text(null);
        tree.number(flags);
    }

    @Override
    public void gesture(Gesture gesture) throws Exception {
        System.err.println("gesture of " + gesture.ways.length / 4 + " for " + gesture.durationMs);
        Thread.sleep(gesture.durationMs);
    }

    @Override
    public void key(int code, int metaState) throws Exception {
        if (code == 1) throw new Failure(Failure.INPUT_REFUSED, "no");
        if (code == 2) throw new IllegalStateException("UiAutomation not connected");
        System.out.println("a library prints");
    }

    @Override
    public Field focusedField() {
        return new Field(true, text);
    }

    @Override
    public void setText(String value) {
        text = value;
        if (value.startsWith("untold")) return;
        changes.changed(2048, "com.example");
        changes.changed(16, "com.example");
    }

    @Override
    public String readClipboard() {
        return clipboard;
    }

    @Override
    public void writeClipboard(String value) {
        clipboard = value;
    }

    @Override
    public byte[] picture(int maxWidth, int quality) {
        return new byte[maxWidth];
    }

    @Override
    public void release() {
        System.err.println("released");
    }

    @Override
    public void liftFingers() {
        System.err.println("fingers lifted");
    }

    @Override
    public void runMainLoop() throws Exception {
        Thread.sleep(Long.MAX_VALUE);
    }
}
