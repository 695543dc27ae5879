package android.hardware.input;

import android.view.InputEvent;
import android.view.InputSink;

/** android-8.0.0_r1, frameworks/base/core/java/android/hardware/input/InputManager.java. */
public final class InputManager {
    public static InputManager getInstance() {
        return new InputManager();
    }

    public boolean injectInputEvent(InputEvent event, int mode) {
        return InputSink.take(event, mode);
    }
}
