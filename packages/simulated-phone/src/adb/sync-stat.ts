import type { FileStat } from './sync-files.ts';

const noFile: FileStat = { mode: 0, sizeBytes: 0, modifiedSeconds: 0 };

/** STAT (version 1): mode, size, time; all zero means that there is no such file. */
export function encodeStat(id: string, stat: FileStat | undefined): Buffer {
  const { mode, sizeBytes, modifiedSeconds } = stat ?? noFile;
  const bytes = Buffer.alloc(16);
  bytes.write(id, 0, 'latin1');
  bytes.writeUInt32LE(mode, 4);
  bytes.writeUInt32LE(sizeBytes, 8);
  bytes.writeUInt32LE(modifiedSeconds, 12);
  return bytes;
}

/** LST2, STA2 and the head of DNT2: error, device, inode, mode, links, owner, group, size, three times. */
export function encodeStatV2(id: string, stat: FileStat | undefined, errno: number): Buffer {
  const { mode, sizeBytes, modifiedSeconds } = stat ?? noFile;
  const bytes = Buffer.alloc(72);
  bytes.write(id, 0, 'latin1');
  bytes.writeUInt32LE(errno, 4);
  bytes.writeUInt32LE(mode, 24);
  bytes.writeUInt32LE(stat ? 1 : 0, 28);
  bytes.writeUInt32LE(stat ? 2000 : 0, 32);
  bytes.writeUInt32LE(stat ? 2000 : 0, 36);
  bytes.writeBigUInt64LE(BigInt(sizeBytes), 40);
  for (const offset of [48, 56, 64]) bytes.writeBigInt64LE(BigInt(modifiedSeconds), offset);
  return bytes;
}

/** One DENT or DNT2, or the DONE that ends a list, which has the shape of an entry. */
export function encodeDirectoryEntry(
  id: string,
  name: string,
  stat: FileStat | undefined,
  isVersion2 = id === 'DNT2',
): Buffer {
  const head = isVersion2 ? encodeStatV2(id, stat, 0) : encodeStat(id, stat);
  const nameBytes = Buffer.from(name);
  const nameLength = Buffer.alloc(4);
  nameLength.writeUInt32LE(nameBytes.length);
  return Buffer.concat([head, nameLength, nameBytes]);
}
