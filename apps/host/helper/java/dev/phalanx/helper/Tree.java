package dev.phalanx.helper;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Writes trees: numbers of seven bits a byte, texts by their number in a table that both sides build as it goes. */
final class Tree {
    static final int MAX_NODES = 20000;
    static final int MAX_DEPTH = 300;

    private final HashMap<String, Integer> texts = new HashMap<String, Integer>();
    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    private byte[] bytes = new byte[1 << 14];
    private int size;
    private int nodes;
    private boolean isCut;

    void clear() {
        size = 0;
        nodes = 0;
        isCut = false;
        texts.clear();
    }

    /** False when there have been too many: the tree is cut. */
    boolean begin(int depth) {
        if (nodes < MAX_NODES && depth < MAX_DEPTH) {
            nodes++;
            return true;
        }
        isCut = true;
        return false;
    }

    void end() {
        number(isCut ? 1 : 0);
    }

    void number(int value) {
        room(5);
        while ((value & ~0x7f) != 0) {
            bytes[size++] = (byte) (value | 0x80);
            value >>>= 7;
        }
        bytes[size++] = (byte) value;
    }

    void signed(int value) {
        number((value << 1) ^ (value >> 31));
    }

    /** 0: none. A number that has not been: the text follows, and has it from now on. */
    void text(CharSequence value) {
        if (value == null) {
            number(0);
            return;
        }
        String text = value.toString();
        Integer known = texts.get(text);
        if (known != null) {
            number(known);
            return;
        }
        texts.put(text, texts.size() + 1);
        number(texts.size());
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        number(utf8.length);
        room(utf8.length);
        System.arraycopy(utf8, 0, bytes, size, utf8.length);
        size += utf8.length;
    }

    /** Tells two trees apart. */
    long digest() {
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, size);
        return crc.getValue() | ((long) size << 32);
    }

    /** The length of all, and all of it deflated. */
    byte[] pack() {
        deflater.reset();
        deflater.setInput(bytes, 0, size);
        deflater.finish();
        byte[] packed = new byte[4 + size / 4 + 64];
        Wire.put(packed, 0, size);
        int filled = 4;
        while (!deflater.finished()) {
            if (filled == packed.length) packed = Arrays.copyOf(packed, packed.length * 2);
            filled += deflater.deflate(packed, filled, packed.length - filled);
        }
        return Arrays.copyOf(packed, filled);
    }

    private void room(int more) {
        if (size + more > bytes.length) bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
}
