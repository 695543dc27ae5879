package android.os;

/** frameworks/base/core/java/android/os/Build.java. */
public class Build {
    public static class VERSION {
        public static final int SDK_INT = Integer.getInteger("sdk");
    }
}
