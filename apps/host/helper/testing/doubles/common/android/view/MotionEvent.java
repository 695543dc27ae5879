package android.view;

/** frameworks/base/core/java/android/view/MotionEvent.java. */
public final class MotionEvent extends InputEvent {
    public static final class PointerProperties {
        public int id;
        public int toolType;
    }

    public static final class PointerCoords {
        public float x;
        public float y;
        public float pressure;
        public float size;
    }

    private static final String[] ACTIONS = {"down", "up", "move", "cancel", "outside", "pointer down", "pointer up"};
    private String text;

    public static MotionEvent obtain(
            long downTime, long eventTime, int action, int count, PointerProperties[] fingers, PointerCoords[] places,
            int meta, int buttons, float xPrecision, float yPrecision, int device, int edges, int source, int flags) {
        MotionEvent event = new MotionEvent();
        event.text = "touch " + ACTIONS[action & 0xff] + " " + (action >> 8);
        for (int at = 0; at < count; at++) event.text += " " + Math.round(places[at].x) + "," + Math.round(places[at].y);
        return event;
    }

    @Override
    public String toString() {
        return text;
    }
}
