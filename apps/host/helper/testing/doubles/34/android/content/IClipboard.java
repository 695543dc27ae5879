package android.content;

/** android-14.0.0_r1, frameworks/base/core/java/android/content/IClipboard.aidl. */
public interface IClipboard {
    void setPrimaryClip(ClipData clip, String callingPackage, String attributionTag, int userId, int deviceId);

    ClipData getPrimaryClip(String pkg, String attributionTag, int userId, int deviceId);

    abstract class Stub {
        private static ClipData held;

        public static IClipboard asInterface(android.os.IBinder binder) {
            return new IClipboard() {
                @Override
                public void setPrimaryClip(ClipData clip, String callingPackage, String attributionTag, int userId, int deviceId) {
                    held = clip;
                }

                @Override
                public ClipData getPrimaryClip(String pkg, String attributionTag, int userId, int deviceId) {
                    return pkg.equals("com.android.shell") && attributionTag == null ? held : null;
                }
            };
        }
    }
}
