package dev.phalanx.helper;

import android.app.UiAutomation;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.os.Build;
import android.os.Bundle;
import android.os.Looper;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityWindowInfo;
import java.io.ByteArrayOutputStream;
import java.util.List;

/** The screen of this phone. */
public final class AndroidScreen implements Screen {
    private static final int ROOT_TRIES = 8;
    private static final int ROOT_RETRY_MS = 50;

    private final Automation automation;
    private final Input input;

    public AndroidScreen() throws Exception {
        // What Android posts to the main thread would fail without, from Android 17 on already while connecting.
        if (Looper.getMainLooper() == null) Looper.prepareMainLooper();
        automation = new Automation();
        input = new Input();
    }

    @Override
    public void runMainLoop() {
        Looper.loop();
    }

    @Override
    public int sdk() {
        return Build.VERSION.SDK_INT;
    }

    @Override
    public void listen(Changes changes) {
        automation.listen(changes);
    }

    @Override
    public void release() {
        automation.release();
    }

    @Override
    public void liftFingers() {
        input.close();
    }

    @Override
    public void read(Tree tree, boolean allWindows) throws Exception {
        UiAutomation connected = automation.get(allWindows);
        Automation.forgetNodes(connected);
        tree.number(rotation());
        AccessibilityNodeInfo root = allWindows ? null : activeRoot(connected);
        if (root == null) {
            readWindows(tree, automation.get(true), allWindows);
            return;
        }
        tree.number(1);
        new Walk(tree).write(root);
    }

    private static AccessibilityNodeInfo activeRoot(UiAutomation connected) throws InterruptedException {
        for (int attempt = 1;; attempt++) {
            AccessibilityNodeInfo root = connected.getRootInActiveWindow();
            if (root != null || attempt == ROOT_TRIES) return root;
            Thread.sleep(ROOT_RETRY_MS);
        }
    }

    /** The front one first; the active or focused one alone where not all are wanted. */
    private static void readWindows(Tree tree, UiAutomation connected, boolean all) throws Exception {
        List<AccessibilityWindowInfo> windows = connected.getWindows();
        AccessibilityNodeInfo[] roots = new AccessibilityNodeInfo[windows.size()];
        int count = 0;
        StringBuilder told = new StringBuilder();
        for (AccessibilityWindowInfo window : windows) {
            told.append(' ').append(window.getType()).append(window.isActive() ? " active" : "");
            AccessibilityNodeInfo root = window.getRoot();
            boolean isWanted = all || (count == 0 && (window.isActive() || window.isFocused()));
            if (root != null && isWanted) roots[count++] = root;
        }
        if (count == 0) throw new Failure(Failure.NO_ROOT, windows.size() + " windows, none with a tree:" + told);
        tree.number(count);
        for (int at = 0; at < count; at++) new Walk(tree).write(roots[at]);
    }

    /** Android lists those that take touches alone; the bounds of a window are those of its touchable region. */
    @Override
    public void readWindows(Tree tree) throws Exception {
        List<AccessibilityWindowInfo> windows = automation.get(true).getWindows();
        Rect rect = new Rect();
        tree.number(windows.size());
        for (AccessibilityWindowInfo window : windows) {
            AccessibilityNodeInfo root = window.getRoot();
            window.getBoundsInScreen(rect);
            tree.number(window.getType());
            tree.text(root == null ? null : root.getPackageName());
            tree.signed(rect.left);
            tree.signed(rect.top);
            tree.signed(rect.right);
            tree.signed(rect.bottom);
        }
    }

    private static int rotation() throws Exception {
        Object manager = Hidden.service("window", "android.view.IWindowManager");
        return (Integer) Hidden.call(manager, "getDefaultDisplayRotation");
    }

    @Override
    public void gesture(Gesture gesture) throws Exception {
        input.gesture(gesture);
    }

    @Override
    public void key(int code, int metaState) throws Exception {
        input.key(code, metaState);
    }

    private AccessibilityNodeInfo focusedNode() throws Exception {
        UiAutomation connected = automation.get(false);
        Automation.forgetNodes(connected);
        AccessibilityNodeInfo node = connected.findFocus(AccessibilityNodeInfo.FOCUS_INPUT);
        if (node == null || !node.isEditable()) throw new Failure(Failure.NO_FIELD, "nothing that takes text has the focus");
        return node;
    }

    @Override
    public Field focusedField() throws Exception {
        AccessibilityNodeInfo node = focusedNode();
        boolean isEmpty = node.getText() == null || Walk.showsHint(node);
        return new Field(node.isPassword(), isEmpty ? "" : node.getText().toString());
    }

    @Override
    public void setText(String text) throws Exception {
        Bundle arguments = new Bundle();
        arguments.putCharSequence(AccessibilityNodeInfo.ACTION_ARGUMENT_SET_TEXT_CHARSEQUENCE, text);
        if (focusedNode().performAction(AccessibilityNodeInfo.ACTION_SET_TEXT, arguments)) return;
        throw new Failure(Failure.TEXT_REFUSED, "the field does not take this text");
    }

    @Override
    public String readClipboard() throws Exception {
        return Clipboard.read();
    }

    @Override
    public void writeClipboard(String text) throws Exception {
        Clipboard.write(text);
    }

    @Override
    public byte[] picture(int maxWidth, int quality) throws Exception {
        Bitmap taken = automation.get(false).takeScreenshot();
        if (taken == null) throw new Failure(Failure.NO_PICTURE, "Android gave no picture");
        Bitmap picture = maxWidth > 0 && taken.getWidth() > maxWidth ? shrink(taken, maxWidth) : taken;
        ByteArrayOutputStream file = new ByteArrayOutputStream(1 << 16);
        picture.compress(quality == 0 ? Bitmap.CompressFormat.PNG : Bitmap.CompressFormat.JPEG, quality, file);
        return file.toByteArray();
    }

    private static Bitmap shrink(Bitmap taken, int width) {
        // The screen's own pictures are in the graphics memory, where nothing can be scaled.
        Bitmap pixels = taken.copy(Bitmap.Config.ARGB_8888, false);
        return Bitmap.createScaledBitmap(pixels, width, taken.getHeight() * width / taken.getWidth(), true);
    }
}
