package dev.phalanx.helper;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;

/**
 * Started by app_process as the shell user, on the standard streams of the adb shell: nobody else can reach it, and it ends with them.
 * Arguments: the hash of its file, which it tells the host, and for tests the class of the screen.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        // Whatever a library prints must not get between the frames.
        System.setOut(System.err);
        String screenClass = args.length > 1 ? args[1] : "dev.phalanx.helper.AndroidScreen";
        Screen screen = (Screen) Class.forName(screenClass).getDeclaredConstructor().newInstance();
        new Requests(screen, new Wire(System.in, out), args.length > 0 ? args[0] : "").start();
        screen.runMainLoop();
    }
}
