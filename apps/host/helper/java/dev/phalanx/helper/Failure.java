package dev.phalanx.helper;

/** A failure that the host knows by its word. */
final class Failure extends Exception {
    static final String NO_ROOT = "no_root";
    static final String BUSY = "busy";
    static final String NOT_CONNECTED = "not_connected";
    static final String INPUT_REFUSED = "input_refused";
    static final String NO_FIELD = "no_field";
    static final String TEXT_REFUSED = "text_refused";
    static final String NO_PICTURE = "no_picture";
    static final String CLIPBOARD_REFUSED = "clipboard_refused";

    final String word;

    Failure(String word, String detail) {
        super(detail);
        this.word = word;
    }
}
