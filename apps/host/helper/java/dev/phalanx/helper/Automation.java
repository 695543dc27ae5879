package dev.phalanx.helper;

import android.accessibilityservice.AccessibilityServiceInfo;
import android.app.UiAutomation;
import android.os.Build;
import android.os.HandlerThread;
import android.os.Looper;
import android.view.accessibility.AccessibilityEvent;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;

/** The phone's only UiAutomation, connected as Android's own `uiautomator` command does, while it is needed. */
final class Automation implements UiAutomation.OnAccessibilityEventListener {
    /** UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES. */
    private static final int KEEP_SERVICES = 1;
    private static final int MAX_WAIT_MS = 5000;
    private static final int RETRY_MS = 25;
    private static final long KEEP_WINDOWS_NANOS = 5_000_000_000L;
    private static final int CHANGING =
            AccessibilityEvent.TYPE_WINDOW_CONTENT_CHANGED
                    | AccessibilityEvent.TYPE_WINDOW_STATE_CHANGED
                    | AccessibilityEvent.TYPE_WINDOWS_CHANGED
                    | AccessibilityEvent.TYPE_VIEW_SCROLLED
                    | AccessibilityEvent.TYPE_VIEW_TEXT_CHANGED
                    | AccessibilityEvent.TYPE_VIEW_FOCUSED;

    private final HandlerThread thread = new HandlerThread("accessibility");
    private UiAutomation connected;
    private boolean hasAllWindows;
    /** When windows were asked for last. */
    private long windowsAsked;
    private volatile Changes changes;

    Automation() {
        thread.start();
    }

    void listen(Changes listener) {
        changes = listener;
    }

    @Override
    public void onAccessibilityEvent(AccessibilityEvent event) {
        Changes listener = changes;
        if (listener == null) return;
        int type = event.getEventType();
        if (type == AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED) announce(listener, event);
        if ((type & CHANGING) != 0) listener.changed(type, String.valueOf(event.getPackageName()));
    }

    private static void announce(Changes listener, AccessibilityEvent event) {
        StringBuilder text = new StringBuilder();
        for (CharSequence part : event.getText()) text.append(text.length() > 0 ? ", " : "").append(part);
        if (text.length() > 0) listener.announced(text.toString());
    }

    /** Windows cost Android work for as long as they are asked for, and some more each time that begins. */
    synchronized UiAutomation get(boolean allWindows) throws Exception {
        if (connected == null) {
            connected = connect();
            hasAllWindows = !allWindows;
        }
        long now = System.nanoTime();
        if (allWindows) windowsAsked = now;
        boolean keepsWindows = hasAllWindows && now - windowsAsked < KEEP_WINDOWS_NANOS;
        if (hasAllWindows != allWindows && !keepsWindows) {
            configure(connected, allWindows);
            hasAllWindows = allWindows;
        }
        return connected;
    }

    synchronized void release() {
        if (connected == null) return;
        try {
            Hidden.call(connected, "disconnect");
        } catch (Exception gone) {
            System.err.println("Giving UiAutomation back: " + gone);
        }
        connected = null;
    }

    private UiAutomation connect() throws Exception {
        for (int waitedMs = 0;; waitedMs += RETRY_MS) {
            UiAutomation made = make();
            try {
                connect(made);
                made.setOnAccessibilityEventListener(this);
                return made;
            } catch (IllegalStateException taken) {
                if (!String.valueOf(taken.getMessage()).contains("already registered")) throw taken;
                if (waitedMs >= MAX_WAIT_MS) throw new Failure(Failure.BUSY, taken.getMessage());
            }
            Thread.sleep(RETRY_MS);
        }
    }

    /** Its constructor takes a Looper, from Android 11 on a display or a context as well. */
    private UiAutomation make() throws Exception {
        Class<?> connection = Class.forName("android.app.UiAutomationConnection");
        for (Constructor<?> constructor : UiAutomation.class.getDeclaredConstructors()) {
            Class<?>[] types = constructor.getParameterTypes();
            Object[] values = new Object[types.length];
            boolean takesLooper = false;
            boolean takesConnection = false;
            for (int at = 0; at < types.length; at++) {
                if (types[at] == Looper.class) {
                    values[at] = thread.getLooper();
                    takesLooper = true;
                } else if (types[at].isAssignableFrom(connection)) {
                    values[at] = connection.getDeclaredConstructor().newInstance();
                    takesConnection = true;
                } else if (types[at] == int.class) {
                    values[at] = 0;
                }
            }
            if (!takesLooper || !takesConnection) continue;
            constructor.setAccessible(true);
            return (UiAutomation) constructor.newInstance(values);
        }
        throw new Failure(Failure.NOT_CONNECTED, "no constructor of UiAutomation is known");
    }

    private static void connect(UiAutomation made) throws Exception {
        Method timed = Hidden.find(UiAutomation.class, "connectWithTimeout", int.class, long.class);
        Method flagged = Hidden.find(UiAutomation.class, "connect", int.class);
        if (timed != null) Hidden.call(made, timed, KEEP_SERVICES, (long) MAX_WAIT_MS);
        else if (flagged != null) Hidden.call(made, flagged, KEEP_SERVICES);
        else Hidden.call(made, "connect");
    }

    private static void configure(UiAutomation made, boolean allWindows) throws Failure {
        AccessibilityServiceInfo info = made.getServiceInfo();
        if (info == null) throw new Failure(Failure.NOT_CONNECTED, "UiAutomation tells nothing of itself");
        info.eventTypes = AccessibilityEvent.TYPES_ALL_MASK;
        info.notificationTimeout = 0;
        info.flags |= AccessibilityServiceInfo.FLAG_INCLUDE_NOT_IMPORTANT_VIEWS;
        info.flags |= AccessibilityServiceInfo.FLAG_REPORT_VIEW_IDS;
        if (allWindows) info.flags |= AccessibilityServiceInfo.FLAG_RETRIEVE_INTERACTIVE_WINDOWS;
        else info.flags &= ~AccessibilityServiceInfo.FLAG_RETRIEVE_INTERACTIVE_WINDOWS;
        made.setServiceInfo(info);
    }

    /** Nodes are kept until an event tells of a change, which web pages, Compose and some widgets don't send. */
    static void forgetNodes(UiAutomation automation) throws Exception {
        if (Build.VERSION.SDK_INT >= 34) {
            Hidden.call(automation, "clearCache");
            return;
        }
        Class<?> type = Class.forName("android.view.accessibility.AccessibilityInteractionClient");
        Object client = Hidden.call(null, type.getMethod("getInstance"));
        Method ofConnection = Hidden.find(type, "clearCache", int.class);
        if (ofConnection == null) Hidden.call(client, "clearCache");
        else Hidden.call(client, ofConnection, Hidden.call(automation, "getConnectionId"));
    }
}
