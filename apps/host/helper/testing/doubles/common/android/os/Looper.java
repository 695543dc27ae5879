package android.os;

/** frameworks/base/core/java/android/os/Looper.java: the main one is missing until it is prepared. */
public final class Looper {
    private static Looper main;

    public static Looper getMainLooper() {
        return main;
    }

    public static void prepareMainLooper() {
        main = new Looper();
    }

    public static void loop() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException end) {
            return;
        }
    }
}
