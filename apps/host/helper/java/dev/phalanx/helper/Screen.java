package dev.phalanx.helper;

/** What the helper does on a phone. Failures are a `Failure`, or any exception. */
interface Screen {
    /** Android's number for its release. */
    int sdk();

    /** Writes the active window, or all of them. */
    void read(Tree tree, boolean allWindows) throws Exception;

    /** Writes all windows that take touches, without their trees, the front one first. */
    void readWindows(Tree tree) throws Exception;

    void gesture(Gesture gesture) throws Exception;

    void key(int code, int metaState) throws Exception;

    /** The field that has the input focus. */
    Field focusedField() throws Exception;

    /** Replaces what the focused field holds. */
    void setText(String text) throws Exception;

    String readClipboard() throws Exception;

    void writeClipboard(String text) throws Exception;

    /** PNG for quality 0, else JPEG; no wider than `maxWidth`, 0: as it is. */
    byte[] picture(int maxWidth, int quality) throws Exception;

    /** Gives UiAutomation back, so that other programs can have it. */
    void release();

    /** No finger stays on the screen, and none comes after this. */
    void liftFingers();

    /** Told of what changes on the screen. */
    void listen(Changes changes);

    /** Returns never. */
    void runMainLoop() throws Exception;

    final class Field {
        final boolean isPassword;
        /** Empty where only the hint is shown. */
        final String text;

        Field(boolean isPassword, String text) {
            this.isPassword = isPassword;
            this.text = text;
        }
    }

    /** Fingers that go straight ways at the same time. */
    final class Gesture {
        int delayMs;
        int holdMs;
        int durationMs;
        /** For each finger: from x, from y, to x, to y. */
        int[] ways;
    }
}
