import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Addresses of names in a file such as `/etc/hosts`, which is read again after a change. */
export class HostsFile {
  readonly #path: string;
  #version = '';
  #names: ReadonlyMap<string, LookupAddress[]> = new Map();

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the addresses of a name in lower case. Empty when the name or the file is missing. */
  async find(name: string): Promise<LookupAddress[]> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version !== this.#version) this.#names = parseHosts(await readFile(this.#path, 'utf8'));
      this.#version = version;
    } catch {
      return [];
    }
    return this.#names.get(name.replace(/\.$/, '')) ?? [];
  }
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...ofAddress] = line.split('#', 1)[0]?.trim().split(/\s+/) ?? [];
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of ofAddress) {
      const known = names.get(name.toLowerCase()) ?? [];
      names.set(name.toLowerCase(), [...known, { address, family }]);
    }
  }
  return names;
}

/** Returns the candidates for a name by the search list of `/etc/resolv.conf`, in the order in which they are tried. */
export async function readSearch(name: string): Promise<string[]> {
  const text = await readFile('/etc/resolv.conf', 'utf8').catch(() => '');
  return candidatesOf(name, text);
}

export function candidatesOf(name: string, resolvConf: string): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const listed = [...resolvConf.matchAll(/^(?:search|domain)[ \t]+(.*)$/gm)].at(-1)?.[1] ?? '';
  const domains = listed.split(/\s+/).filter(Boolean);
  const minDots = Number(/^options[ \t].*\bndots:(\d+)/m.exec(resolvConf)?.[1] ?? 1);
  const extended = domains.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= minDots ? [name, ...extended] : [...extended, name];
}
