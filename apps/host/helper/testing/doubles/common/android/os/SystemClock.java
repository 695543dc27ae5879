package android.os;

/** frameworks/base/core/java/android/os/SystemClock.java. */
public final class SystemClock {
    public static long uptimeMillis() {
        return System.nanoTime() / 1000000;
    }

    public static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException end) {
            return;
        }
    }
}
