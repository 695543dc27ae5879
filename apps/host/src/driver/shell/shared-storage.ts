import { posix } from 'node:path';

/** Names of the storage that apps share, and of memory cards. They contain no links. */
const sharedStorage =
  /^\/(?:sdcard|mnt\/sdcard|storage\/(?:emulated\/\d+|self\/primary|[0-9A-F]{4}-[0-9A-F]{4}))(?:\/|$)/;

export const isSharedStorage = (path: string): boolean => sharedStorage.test(path);

const linkToMain = /^\/(?:sdcard|mnt\/sdcard|storage\/self\/primary)(?=\/)/;

/** Returns the path in MediaStore's form, with links resolved. */
export const mediaPath = (path: string): string =>
  posix.normalize(path).replace(linkToMain, '/storage/emulated/0');

const foldersByEnd: readonly (readonly [RegExp, string])[] = [
  [/\.(?:jpe?g|png|gif|webp|bmp|heic|heif|avif|dng)$/i, 'Pictures'],
  [/\.(?:mp4|m4v|mov|mkv|webm|3gp|avi|ts)$/i, 'Movies'],
  [/\.(?:mp3|m4a|aac|ogg|oga|opus|flac|wav|amr)$/i, 'Music'],
];

/**
 * Returns the folder for a file by its type. Galleries of many makers show only pictures and films in their own
 * folders.
 */
export function defaultFolder(name: string): string {
  const folder = foldersByEnd.find(([end]) => end.test(name))?.[1];
  return `/sdcard/${folder ?? 'Download'}`;
}
