package android.hardware.input;

import android.view.InputEvent;
import android.view.InputSink;

/** android-14.0.0_r1, frameworks/base/core/java/android/hardware/input/InputManagerGlobal.java. */
public final class InputManagerGlobal {
    public static InputManagerGlobal getInstance() {
        return new InputManagerGlobal();
    }

    public boolean injectInputEvent(InputEvent event, int mode) {
        return InputSink.take(event, mode);
    }
}
