package dev.phalanx.helper;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Frames both ways: four bytes of length of what follows, one of kind, four of id, the payload. */
final class Wire {
    private static final int HEAD = 5;
    private static final int MAX_REQUEST = 1 << 20;
    private static final int MAX_ANSWER = 32 << 20;

    private final DataInputStream in;
    private final OutputStream out;

    Wire(InputStream in, OutputStream out) {
        this.in = new DataInputStream(new BufferedInputStream(in, 1 << 16));
        this.out = out;
    }

    static final class Frame {
        final int kind;
        final int id;
        final byte[] payload;

        Frame(int kind, int id, byte[] payload) {
            this.kind = kind;
            this.id = id;
            this.payload = payload;
        }
    }

    /** Null at the end of the stream. Throws on a frame that no host sends. */
    Frame read() throws IOException {
        int length;
        try {
            length = in.readInt();
        } catch (EOFException end) {
            return null;
        }
        if (length < HEAD || length > MAX_REQUEST) throw new IOException("a frame of " + length + " bytes");
        int kind = in.readUnsignedByte();
        int id = in.readInt();
        byte[] payload = new byte[length - HEAD];
        in.readFully(payload);
        return new Frame(kind, id, payload);
    }

    synchronized void write(int kind, int id, byte[] payload) throws IOException {
        if (payload.length > MAX_ANSWER) throw new IOException("an answer of " + payload.length + " bytes");
        byte[] frame = new byte[4 + HEAD + payload.length];
        put(frame, 0, HEAD + payload.length);
        frame[4] = (byte) kind;
        put(frame, 5, id);
        System.arraycopy(payload, 0, frame, 9, payload.length);
        out.write(frame);
        out.flush();
    }

    static void put(byte[] bytes, int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }
}
