import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';

import { hostileText } from './hostile-values.ts';

const kinds = { commit: 1, tree: 2, blob: 3, tag: 4, ofsDelta: 6, refDelta: 7 } as const;
const zeros = '0'.repeat(40);

interface PackObject {
  kind: number;
  /** Size in the object's header, which may be wrong. */
  size: number;
  /** Bytes between header and content, used by deltas. */
  base: Buffer;
  content: Buffer;
}

const objectId = (type: string, content: Buffer): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');

function objectHeader(kind: number, size: number): Buffer {
  const bytes = [(kind << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

/** Returns a pack of these objects; `count` is the number in its header. */
function packOf(objects: readonly PackObject[], count: number): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const body = objects.flatMap(({ kind, size, base, content }) => [
    objectHeader(kind, size),
    base,
    deflateSync(content),
  ]);
  const bytes = Buffer.concat([head, ...body]);
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]);
}

const pktLine = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};

const honest = (kind: number, content: Buffer): PackObject => ({
  kind,
  size: content.length,
  base: Buffer.alloc(0),
  content,
});

const treeEntry = fc.tuple(
  fc.constantFrom('100644', '40000', '120000', '160000', '100755', '0', '777777777777'),
  fc.oneof(fc.constantFrom('main.ts', 'lib', 'a'), hostileText),
);

const identity = 'A <a@example.org> 1700000000 +0000';
const headerLines = fc.constantFrom(
  `author ${identity}\ncommitter ${identity}\n\nfirst\n`,
  `author x\n\n`,
  `author ${identity}\ncommitter ${identity}\nencoding nonsense\n\n\0\n`,
  `author ${identity}\nauthor ${identity}\ncommitter A <a> 99999999999999999999 +9999\n\n`,
  '',
);

/** Generates the valid value most of the time: input with a single fault is processed the furthest. */
const mostly = <Value>(right: Value, wrong: Arbitrary<Value>): Arbitrary<Value> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: wrong });

/** Generates bodies of pushes: commands for refs, and a pack that may be invalid in any way. */
export function hostilePushes(tip: string): Arbitrary<Buffer> {
  const parts = fc.record({
    entries: mostly([['100644', 'note.txt']], fc.array(treeEntry, { maxLength: 4 })),
    blob: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    lines: mostly(`author ${identity}\ncommitter ${identity}\n\nfirst\n`, headerLines),
    parents: mostly([tip], fc.constantFrom<string[]>([], [tip, tip], [zeros], ['f'.repeat(40)], ['main'])),
    ref: fc.oneof(
      { weight: 4, arbitrary: fc.constant('refs/heads/main') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'refs/heads/../x',
          'HEAD',
          'refs/phalanx/x',
          'refs/tags/t',
          'refs/heads/main.lock',
          '-x',
        ),
      },
      { weight: 1, arbitrary: hostileText },
    ),
    old: mostly(tip, fc.constantFrom(zeros, 'f'.repeat(40), 'x')),
    target: mostly('commit', fc.constantFrom('tree', 'blob', 'none', 'missing')),
    more: mostly([], fc.array(strangeObject, { minLength: 1, maxLength: 2 })),
    wrongCount: mostly(0, fc.constantFrom(1, -1, 2 ** 31)),
    cut: mostly(0, fc.nat(40)),
    flipAt: mostly(-1, fc.nat(400)),
  });
  return parts.map((part) => {
    const tree = Buffer.concat(
      part.entries.flatMap(([mode, name]) => [
        Buffer.from(`${mode} ${name}\0`),
        Buffer.from(objectId('blob', part.blob), 'hex'),
      ]),
    );
    const parents = part.parents.map((one) => `parent ${one}\n`).join('');
    const commit = Buffer.from(`tree ${objectId('tree', tree)}\n${parents}${part.lines}`);
    const ids: Record<string, string> = {
      commit: objectId('commit', commit),
      tree: objectId('tree', tree),
      blob: objectId('blob', part.blob),
      none: zeros,
      missing: 'e'.repeat(40),
    };
    const objects = [
      honest(kinds.blob, part.blob),
      honest(kinds.tree, tree),
      honest(kinds.commit, commit),
      ...part.more,
    ];
    const pack = packOf(objects, Math.max(0, objects.length + part.wrongCount));
    const at = part.flipAt;
    if (at >= 0 && at < pack.length) pack[at] = (pack[at] ?? 0) ^ 0xff;
    const command = pktLine(`${part.old} ${ids[part.target] ?? zeros} ${part.ref}\0 report-status\n`);
    return Buffer.concat([command, Buffer.from('0000'), pack.subarray(0, pack.length - part.cut)]);
  });
}

/** Generates objects with a wrong kind, size or base. */
const strangeObject: Arbitrary<PackObject> = fc
  .tuple(
    fc.constantFrom(0, 5, kinds.tag, kinds.ofsDelta, kinds.refDelta, kinds.tree, kinds.commit),
    fc.constantFrom(0, 1, 2 ** 20, 2 ** 40, 2 ** 52),
    fc.constantFrom(
      Buffer.alloc(0),
      Buffer.alloc(20, 0xee),
      Buffer.from([0xff, 0xff, 0xff, 0x7f]),
      Buffer.from([0]),
    ),
    // Content of a delta: sizes of base and result, then the copy instructions.
    fc.constantFrom(
      Buffer.alloc(0),
      Buffer.from([10, 0xff, 0xff, 0xff, 0x7f, 0xb0, 0, 0]),
      Buffer.from('tag'),
      Buffer.alloc(5000),
    ),
  )
  .map(([kind, size, base, content]) => ({ kind, size, base, content }));
