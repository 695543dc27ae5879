package dev.phalanx.helper;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Gathers accessibility events: tells once that something changed, and no more before the next reading. */
final class Changes {
    private static final int GATHER_MS = 30;
    /** As long as Android shows a long toast. */
    private static final long TOAST_MS = 3500;

    private final Wire wire;
    private final ArrayDeque<Toast> toasts = new ArrayDeque<Toast>();
    private final ScheduledExecutorService teller =
            Executors.newSingleThreadScheduledExecutor(
                    new ThreadFactory() {
                        @Override
                        public Thread newThread(Runnable work) {
                            Thread thread = new Thread(work, "changes");
                            thread.setDaemon(true);
                            return thread;
                        }
                    });
    private boolean isWatched;
    private boolean isTold;
    private int types;

    private static final class Toast {
        final String text;
        final long at;

        Toast(String text, long at) {
            this.text = text;
            this.at = at;
        }
    }

    Changes(Wire wire) {
        this.wire = wire;
    }

    synchronized void watch(boolean isOn) {
        isWatched = isOn;
        isTold = false;
    }

    /** What comes from now on is not in the tree that is read. */
    synchronized void beginReading() {
        isTold = false;
        types = 0;
    }

    synchronized void announced(String text) {
        toasts.add(new Toast(text, System.nanoTime()));
        while (toasts.size() > 16) toasts.remove();
    }

    /** What was announced within the last seconds. */
    synchronized String[] announcements() {
        while (!toasts.isEmpty() && System.nanoTime() - toasts.peek().at > TOAST_MS * 1000000) toasts.remove();
        String[] texts = new String[toasts.size()];
        int at = 0;
        for (Toast toast : toasts) texts[at++] = toast.text;
        return texts;
    }

    synchronized void changed(int type, final String packageName) {
        types |= type;
        if (!isWatched || isTold) return;
        isTold = true;
        teller.schedule(
                new Runnable() {
                    @Override
                    public void run() {
                        tell(packageName);
                    }
                },
                GATHER_MS,
                TimeUnit.MILLISECONDS);
    }

    private void tell(String packageName) {
        byte[] name = packageName.getBytes(StandardCharsets.UTF_8);
        byte[] payload = new byte[4 + name.length];
        synchronized (this) {
            Wire.put(payload, 0, types);
        }
        System.arraycopy(name, 0, payload, 4, name.length);
        try {
            wire.write(Requests.CHANGED, 0, payload);
        } catch (IOException gone) {
            System.exit(0);
        }
    }
}
