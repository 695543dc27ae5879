/**
 * Names that some git or some file system takes for one of git's own: Windows ignores dots and spaces at the end and
 * what follows a colon, and gives short names such as `git~1`; macOS ignores invisible characters. A clone onto
 * such a system must not let a project's file become a part of git's folder.
 */

/** Code points that HFS+ leaves out of names. */
const ignoredByHfs = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/gu;

/** As it arrives on a file system that drops what it does not show. */
function plainName(name: string): string {
  const shown = name.replaceAll(ignoredByHfs, '').toLowerCase();
  return withoutEnd(shown.split(':', 1)[0] ?? '');
}

/** No regular expression: one that looks for the end from every dot takes the square of the name's length. */
function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && '. '.includes(name.charAt(end - 1))) end -= 1;
  return name.slice(0, end);
}

/** Windows's short names: six letters and a number, or fewer letters of a hash and a longer number. */
function shortNames(beginning: string, hashed: string): RegExp {
  const ofHash = Array.from(
    { length: hashed.length + 1 },
    (_, length) => `${hashed.slice(0, length)}~[1-9]\\d{${6 - length}}`,
  );
  return new RegExp(`^(?:${beginning}~[1-4]|${ofHash.join('|')})$`);
}

const shortModules = shortNames('gitmod', 'gi7eba');
const shortAttributes = shortNames('gitatt', 'gi7d29');

/** Why a file or folder of a project can't have this name, as the end of a sentence. */
export function findReservedReason(name: string): string | undefined {
  const plain = plainName(name);
  if (plain === '.git' || plain === 'git~1') return 'must not lead into ".git"';
  if (plain === '.gitmodules' || shortModules.test(plain))
    return 'must not be ".gitmodules": projects have no submodules';
  const isAttributes = plain === '.gitattributes' || shortAttributes.test(plain);
  if (isAttributes && name !== '.gitattributes')
    return 'must not look like ".gitattributes" without being it';
  return undefined;
}
