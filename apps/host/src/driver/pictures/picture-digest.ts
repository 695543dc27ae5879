import { createHash } from 'node:crypto';

/** Returns a digest of the file of a picture, to recognize it. */
export const pictureDigest = (file: Buffer): string => createHash('sha1').update(file).digest('base64url');
