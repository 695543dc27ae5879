package dev.phalanx.helper;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Takes requests as they come, and does one after the other. Ends the process with the stream. */
final class Requests {
    static final int HELLO = 1;
    static final int READ = 2;
    static final int GESTURE = 3;
    static final int KEY = 4;
    static final int FIELD = 5;
    static final int SET_TEXT = 6;
    static final int READ_CLIPBOARD = 7;
    static final int WRITE_CLIPBOARD = 8;
    static final int PICTURE = 9;
    static final int WATCH = 10;
    static final int RELEASE = 11;
    static final int WINDOWS = 12;
    /** Of the first byte of WATCH. 1: changes are told. 0: no more. */
    static final int WATCH_AND_LOOK = 2;
    static final int OK = 64;
    static final int SAME = 65;
    static final int TREE = 66;
    static final int ERROR = 67;
    static final int CHANGED = 68;

    private static final int PROTOCOL = 1;
    private static final int MAX_WAITING = 64;
    private static final int MAX_FINGERS = 10;
    /** Other programs get UiAutomation when this one was not asked for anything but its hello for so long. */
    private static final long HOLD_NANOS = 10_000_000_000L;
    /** The screen is looked at so long after the last time. Telling the host, and its reading, take the rest of a second. */
    private static final long LOOK_NANOS = 900_000_000L;
    private static final int MAX_ERROR = 8000;
    private static final byte[] NOTHING = new byte[0];

    private final Screen screen;
    private final Wire wire;
    private final Changes changes;
    private final String build;
    private final Tree tree = new Tree();
    private final LinkedBlockingQueue<Wire.Frame> waiting = new LinkedBlockingQueue<Wire.Frame>(MAX_WAITING);
    private long lastDigest;
    /** Of the active window as the host knows it. */
    private long lastActive;
    private boolean isLooking;

    Requests(Screen screen, Wire wire, String build) {
        this.screen = screen;
        this.wire = wire;
        this.build = build;
        this.changes = new Changes(wire);
        screen.listen(changes);
    }

    void start() {
        Thread worker =
                new Thread("requests") {
                    @Override
                    public void run() {
                        work();
                    }
                };
        worker.start();
        new Thread("reader") {
            @Override
            public void run() {
                end(take());
            }
        }.start();
    }

    /** Returns why nothing more comes. */
    private int take() {
        try {
            for (Wire.Frame frame = wire.read(); frame != null; frame = wire.read()) {
                if (!waiting.offer(frame)) return 3;
            }
            return 0;
        } catch (IOException broken) {
            System.err.println("The stream broke: " + broken.getMessage());
            return 2;
        }
    }

    /** Without waiting for the request that is done now, whatever it is. */
    private void end(int code) {
        try {
            screen.liftFingers();
        } finally {
            // The end of the process gives UiAutomation back.
            Runtime.getRuntime().halt(code);
        }
    }

    private void work() {
        try {
            long used = System.nanoTime();
            for (long looked = used;;) {
                long due = isLooking ? looked + LOOK_NANOS : used + HOLD_NANOS;
                Wire.Frame frame = waiting.poll(due - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (frame != null) answer(frame);
                else if (isLooking) look();
                else screen.release();
                if (frame == null || frame.kind == READ) looked = System.nanoTime();
                if (frame == null || frame.kind != HELLO) used = System.nanoTime();
            }
        } catch (InterruptedException | IOException broken) {
            end(2);
        }
    }

    private void answer(Wire.Frame frame) throws IOException {
        try {
            handle(frame, new DataInputStream(new ByteArrayInputStream(frame.payload)));
        } catch (IOException broken) {
            // The payload is too short; the stream itself breaks in `take`.
            error(frame.id, "bad_request", broken);
        } catch (Failure failure) {
            error(frame.id, failure.word, failure);
        } catch (SecurityException refused) {
            error(frame.id, frame.kind == READ ? Failure.NOT_CONNECTED : Failure.INPUT_REFUSED, refused);
        } catch (Throwable failure) {
            error(frame.id, "failed", failure);
        }
    }

    private void handle(Wire.Frame frame, DataInputStream in) throws Exception {
        switch (frame.kind) {
            case HELLO:
                reply(frame, utf8(PROTOCOL + " " + screen.sdk() + " " + build));
                return;
            case READ:
                read(frame, in.readBoolean(), in.readBoolean());
                return;
            case GESTURE:
                screen.gesture(readGesture(in));
                break;
            case KEY:
                screen.key(in.readInt(), in.readInt());
                break;
            case FIELD:
                Screen.Field field = screen.focusedField();
                reply(frame, utf8((field.isPassword ? "1" : "0") + field.text));
                return;
            case SET_TEXT:
                screen.setText(new String(frame.payload, StandardCharsets.UTF_8));
                break;
            case READ_CLIPBOARD:
                reply(frame, utf8(screen.readClipboard()));
                return;
            case WRITE_CLIPBOARD:
                screen.writeClipboard(new String(frame.payload, StandardCharsets.UTF_8));
                break;
            case PICTURE:
                reply(frame, screen.picture(in.readInt(), in.readUnsignedByte()));
                return;
            case WATCH:
                int watch = in.readUnsignedByte();
                changes.watch(watch > 0);
                isLooking = watch == WATCH_AND_LOOK;
                break;
            case RELEASE:
                screen.release();
                break;
            case WINDOWS:
                tree.clear();
                screen.readWindows(tree);
                reply(frame, tree.pack());
                return;
            default:
                throw new Failure("bad_request", "kind " + frame.kind);
        }
        reply(frame, NOTHING);
    }

    private void read(Wire.Frame frame, boolean allWindows, boolean isFresh) throws Exception {
        changes.beginReading();
        long digest = write(allWindows);
        if (!allWindows) lastActive = digest;
        if (!isFresh && digest == lastDigest) {
            wire.write(SAME, frame.id, NOTHING);
            return;
        }
        lastDigest = digest;
        wire.write(TREE, frame.id, tree.pack());
    }

    /** Puts the screen into `tree`, and returns its digest. */
    private long write(boolean allWindows) throws Exception {
        tree.clear();
        String[] announced = changes.announcements();
        tree.number(announced.length);
        for (String text : announced) tree.text(text);
        screen.read(tree, allWindows);
        tree.end();
        return tree.digest();
    }

    /** What can't be read is told as a change: the host reads then, and gets the reason. */
    private void look() {
        try {
            if (write(false) == lastActive) return;
        } catch (Throwable failure) {
            System.err.println("A look at the screen: " + failure);
        }
        changes.changed(0, "");
    }

    private static Screen.Gesture readGesture(DataInputStream in) throws Exception {
        Screen.Gesture gesture = new Screen.Gesture();
        gesture.delayMs = in.readInt();
        gesture.holdMs = in.readInt();
        gesture.durationMs = in.readInt();
        int fingers = in.readUnsignedByte();
        if (fingers < 1 || fingers > MAX_FINGERS) throw new Failure("bad_request", fingers + " fingers");
        gesture.ways = new int[4 * fingers];
        for (int at = 0; at < gesture.ways.length; at++) gesture.ways[at] = in.readInt();
        return gesture;
    }

    private void reply(Wire.Frame frame, byte[] payload) throws IOException {
        wire.write(OK, frame.id, payload);
    }

    private void error(int id, String word, Throwable failure) throws IOException {
        String text = word + ": " + failure;
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) text += "; " + cause;
        wire.write(ERROR, id, utf8(text.length() > MAX_ERROR ? text.substring(0, MAX_ERROR) : text));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
