package dev.phalanx.helper;

import android.os.SystemClock;
import android.view.InputDevice;
import android.view.InputEvent;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;
import android.view.MotionEvent;
import java.lang.reflect.Method;

/** Injects input as Android's own `input` command does: UiAutomation would wait for animations first. */
final class Input {
    private static final int STEP_MS = 10;
    private static final int DONT_WAIT = 0;
    private static final int WAIT_FOR_RESULT = 1;

    private final Object manager;
    private final Method inject;
    private boolean isClosed;
    /** When the first finger came down; 0: none is. */
    private long downTime;
    private MotionEvent.PointerProperties[] fingers;
    private MotionEvent.PointerCoords[] places;

    Input() throws Exception {
        Class<?> type;
        try {
            type = Class.forName("android.hardware.input.InputManagerGlobal");
        } catch (ClassNotFoundException before14) {
            type = Class.forName("android.hardware.input.InputManager");
        }
        manager = Hidden.call(null, type.getMethod("getInstance"));
        inject = type.getMethod("injectInputEvent", InputEvent.class, int.class);
    }

    void gesture(Screen.Gesture gesture) throws Exception {
        SystemClock.sleep(gesture.delayMs);
        try {
            press(gesture.ways);
            SystemClock.sleep(gesture.holdMs);
            long began = SystemClock.uptimeMillis();
            for (long ms = 0; ms < gesture.durationMs; ms = SystemClock.uptimeMillis() - began) {
                move(gesture.ways, ms, gesture.durationMs);
                SystemClock.sleep(Math.min(STEP_MS, gesture.durationMs - ms));
            }
            if (gesture.durationMs > 0) move(gesture.ways, 1, 1);
            lift();
        } finally {
            cancel();
        }
    }

    void key(int code, int metaState) throws Exception {
        long time = SystemClock.uptimeMillis();
        for (int action : new int[] {KeyEvent.ACTION_DOWN, KeyEvent.ACTION_UP}) {
            KeyEvent event =
                    new KeyEvent(
                            time,
                            SystemClock.uptimeMillis(),
                            action,
                            code,
                            0,
                            metaState,
                            KeyCharacterMap.VIRTUAL_KEYBOARD,
                            0,
                            0,
                            InputDevice.SOURCE_KEYBOARD);
            synchronized (this) {
                if (!isClosed) send(event, WAIT_FOR_RESULT);
            }
        }
    }

    /** Whatever is under way: nothing is injected any more. */
    synchronized void close() {
        isClosed = true;
        try {
            cancel();
        } catch (Exception refused) {
            System.err.println("Lifting the fingers: " + refused);
        }
    }

    private synchronized void press(int[] ways) throws Exception {
        int count = ways.length / 4;
        fingers = new MotionEvent.PointerProperties[count];
        places = new MotionEvent.PointerCoords[count];
        downTime = SystemClock.uptimeMillis();
        for (int at = 0; at < count; at++) {
            fingers[at] = new MotionEvent.PointerProperties();
            fingers[at].id = at;
            fingers[at].toolType = MotionEvent.TOOL_TYPE_FINGER;
            places[at] = new MotionEvent.PointerCoords();
            places[at].pressure = 1;
            places[at].size = 1;
            place(ways, at, 0, 1);
        }
        for (int at = 0; at < count; at++) touch(numbered(at, true), at + 1, WAIT_FOR_RESULT);
    }

    private synchronized void move(int[] ways, long ms, long ofMs) throws Exception {
        for (int at = 0; at < places.length; at++) place(ways, at, ms, ofMs);
        touch(MotionEvent.ACTION_MOVE, places.length, DONT_WAIT);
    }

    private synchronized void lift() throws Exception {
        for (int at = places.length - 1; at >= 0; at--) touch(numbered(at, false), at + 1, WAIT_FOR_RESULT);
        downTime = 0;
    }

    private synchronized void cancel() throws Exception {
        if (downTime == 0) return;
        MotionEvent event = event(MotionEvent.ACTION_CANCEL, places.length);
        downTime = 0;
        send(event, WAIT_FOR_RESULT);
    }

    private void place(int[] ways, int finger, long ms, long ofMs) {
        int at = 4 * finger;
        places[finger].x = ways[at] + (float) (ways[at + 2] - ways[at]) * ms / ofMs;
        places[finger].y = ways[at + 1] + (float) (ways[at + 3] - ways[at + 1]) * ms / ofMs;
    }

    /** The first finger down and the last one up have actions of their own. */
    private static int numbered(int finger, boolean isDown) {
        if (finger == 0) return isDown ? MotionEvent.ACTION_DOWN : MotionEvent.ACTION_UP;
        int action = isDown ? MotionEvent.ACTION_POINTER_DOWN : MotionEvent.ACTION_POINTER_UP;
        return action | (finger << MotionEvent.ACTION_POINTER_INDEX_SHIFT);
    }

    private void touch(int action, int count, int mode) throws Exception {
        if (!isClosed) send(event(action, count), mode);
    }

    private MotionEvent event(int action, int count) {
        long now = SystemClock.uptimeMillis();
        int source = InputDevice.SOURCE_TOUCHSCREEN;
        return MotionEvent.obtain(downTime, now, action, count, fingers, places, 0, 0, 1, 1, 0, 0, source, 0);
    }

    private void send(InputEvent event, int mode) throws Exception {
        if (Boolean.TRUE.equals(Hidden.call(manager, inject, event, mode))) return;
        throw new Failure(Failure.INPUT_REFUSED, "Android did not take the event");
    }
}
