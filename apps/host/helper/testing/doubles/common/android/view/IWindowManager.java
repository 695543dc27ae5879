package android.view;

/** frameworks/base/core/java/android/view/IWindowManager.aidl of android-8.0.0_r1. */
public interface IWindowManager {
    int getDefaultDisplayRotation();

    abstract class Stub {
        public static IWindowManager asInterface(android.os.IBinder binder) {
            return new IWindowManager() {
                @Override
                public int getDefaultDisplayRotation() {
                    return 1;
                }
            };
        }
    }
}
