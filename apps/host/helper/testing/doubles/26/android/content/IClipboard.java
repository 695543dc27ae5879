package android.content;

/** android-8.0.0_r1, frameworks/base/core/java/android/content/IClipboard.aidl. */
public interface IClipboard {
    void setPrimaryClip(ClipData clip, String callingPackage);

    ClipData getPrimaryClip(String callingPackage);

    abstract class Stub {
        private static ClipData held;

        public static IClipboard asInterface(android.os.IBinder binder) {
            return new IClipboard() {
                @Override
                public void setPrimaryClip(ClipData clip, String callingPackage) {
                    held = clip;
                }

                @Override
                public ClipData getPrimaryClip(String callingPackage) {
                    return callingPackage.equals("com.android.shell") ? held : null;
                }
            };
        }
    }
}
