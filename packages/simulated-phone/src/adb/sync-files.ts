export interface FileStat {
  /** Type and permission bits, as in `st_mode`. */
  readonly mode: number;
  readonly sizeBytes: number;
  readonly modifiedSeconds: number;
}

/** A file operation failed for a reason that the peer is told, in a phone's words. */
export class FileSystemError extends Error {
  override readonly name = 'FileSystemError';
}

export interface Upload {
  append(data: Buffer): void;
  /** Stores the file. Returns the reason when it could not be stored. */
  finish(modifiedSeconds: number): string | undefined;
}

/** What the sync service needs of a phone's files. Methods throw FileSystemError. */
export interface SyncFiles {
  findStat(path: string): FileStat | undefined;
  listDirectory(path: string): { name: string; stat: FileStat }[];
  readFile(path: string): Buffer;
  startUpload(path: string, mode: number): Upload;
}
