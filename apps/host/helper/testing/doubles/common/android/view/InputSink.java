package android.view;

/** Prints what InputDispatcher would get. */
public final class InputSink {
    private static int taken;

    public static boolean take(InputEvent event, int mode) {
        if (System.getProperty("fault", "").equals("no injecting"))
            throw new SecurityException("Injecting input events requires the caller to have the INJECT_EVENTS permission.");
        System.err.println(event + " mode " + mode);
        return !System.getProperty("fault", "").equals("refuses the third") || ++taken != 3;
    }
}
