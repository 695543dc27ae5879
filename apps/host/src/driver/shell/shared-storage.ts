import { posix } from 'node:path';

/** Names of the storage that apps share, and of memory cards. It holds no links. */
const sharedStorage =
  /^\/(?:sdcard|mnt\/sdcard|storage\/(?:emulated\/\d+|self\/primary|[0-9A-F]{4}-[0-9A-F]{4}))(?:\/|$)/;

export const isSharedStorage = (path: string): boolean => sharedStorage.test(path);

const linkToMain = /^\/(?:sdcard|mnt\/sdcard|storage\/self\/primary)(?=\/)/;

/** The path as MediaStore has it: links are followed. */
export const mediaPath = (path: string): string =>
  posix.normalize(path).replace(linkToMain, '/storage/emulated/0');

const foldersByEnd: readonly (readonly [RegExp, string])[] = [
  [/\.(?:jpe?g|png|gif|webp|bmp|heic|heif|avif|dng)$/i, 'Pictures'],
  [/\.(?:mp4|m4v|mov|mkv|webm|3gp|avi|ts)$/i, 'Movies'],
  [/\.(?:mp3|m4a|aac|ogg|oga|opus|flac|wav|amr)$/i, 'Music'],
];

/** Galleries of many makers show pictures and films of their own folders alone. */
export function defaultFolder(name: string): string {
  const folder = foldersByEnd.find(([end]) => end.test(name))?.[1];
  return `/sdcard/${folder ?? 'Download'}`;
}
