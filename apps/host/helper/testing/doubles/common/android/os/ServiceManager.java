package android.os;

/** frameworks/base/core/java/android/os/ServiceManager.java. */
public final class ServiceManager {
    public static IBinder getService(String name) {
        return new IBinder() {};
    }
}
