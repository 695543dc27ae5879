package dev.phalanx.helper;

import android.content.ClipData;
import java.lang.reflect.Method;

/** The shell may read and write it at any time; how IClipboard is asked changes with almost every release. */
final class Clipboard {
    private static final String PACKAGE = "com.android.shell";

    private Clipboard() {}

    static String read() throws Exception {
        ClipData clip = (ClipData) call("getPrimaryClip", null);
        if (clip == null || clip.getItemCount() == 0 || clip.getItemAt(0).getText() == null) return "";
        return clip.getItemAt(0).getText().toString();
    }

    static void write(String text) throws Exception {
        call("setPrimaryClip", ClipData.newPlainText(null, text));
    }

    private static Object call(String name, ClipData clip) throws Exception {
        Object service = Hidden.service("clipboard", "android.content.IClipboard");
        for (Method method : service.getClass().getMethods()) {
            if (method.getName().equals(name)) {
                method.setAccessible(true);
                return Hidden.call(service, method, valuesFor(method.getParameterTypes(), clip));
            }
        }
        throw new Failure(Failure.CLIPBOARD_REFUSED, "this Android has no " + name);
    }

    /** The first text is the package that asks; user and display are the first ones. */
    private static Object[] valuesFor(Class<?>[] types, ClipData clip) {
        Object[] values = new Object[types.length];
        boolean isNamed = false;
        for (int at = 0; at < types.length; at++) {
            if (types[at] == ClipData.class) {
                values[at] = clip;
            } else if (types[at] == String.class) {
                values[at] = isNamed ? null : PACKAGE;
                isNamed = true;
            } else if (types[at] == int.class) {
                values[at] = 0;
            }
        }
        return values;
    }
}
