import path from 'node:path';
import { probeOfPart, type FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { BlobStore } from './blob-store.ts';
import { FolderBlobs } from './folder-blobs.ts';
import type { Bucket } from './s3/bucket.ts';
import { Spool, S3Blobs } from './s3-blobs.ts';

interface Place {
  /** Name of the folder in the data folder, and first part of all keys in a bucket. */
  name: string;
  dataDir: string;
  /** Bucket of the blobs; undefined: they are in the data folder. */
  bucket: Bucket | undefined;
  /** Makes the error of reading a blob that was deleted after it was found. */
  missing?: (key: string) => Error;
}

/** Opens a store of blobs to write to. Throws when its folder can't be used. */
export async function openBlobs(
  { name, dataDir, bucket, missing }: Place,
  faults: FaultMonitor,
): Promise<BlobStore> {
  const folder = path.resolve(dataDir, name);
  const inBucket = async (of: Bucket): Promise<BlobStore> => {
    const spool = await Spool.open(path.join(folder, 'incoming'));
    return new S3Blobs({ bucket: of, prefix: `${name}/`, spool, missing });
  };
  const blobs = bucket === undefined ? await FolderBlobs.open(folder) : await inBucket(bucket);
  faults.addProbe('disk', probeOfPart(folder));
  return blobs;
}

/** Opens the same blobs to read, while a server may be writing. */
export const readBlobs = ({ name, dataDir, bucket }: Place): BlobStore =>
  bucket === undefined
    ? FolderBlobs.at(path.resolve(dataDir, name))
    : new S3Blobs({ bucket, prefix: `${name}/` });
