import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Resolve } from './address-rule.ts';
import { HostsFile, readSearch } from './name-files.ts';
import { type AskSystem, SystemLookups } from './system-lookups.ts';

/** Timeout of one question to a name server, in milliseconds. There is no retry. */
const questionMs = 3000;
/** Timeout of a name with all its questions, in milliseconds. */
const nameMs = 5000;
/** Maximum number of concurrent lookups per owner; further ones are queued. */
const maxUnderWay = 4;

/** Names of a local network, which no public name server answers. */
const ofHouse = /^[^.]+$|\.(local|localdomain|lan|home|internal|intranet|corp|private|home\.arpa)$/;

interface Options {
  /** Name servers. Default: those of `/etc/resolv.conf`. */
  readonly servers?: readonly string[];
  /** Path of the hosts file. Default `/etc/hosts`. */
  readonly hostsFile?: string;
  /** Fallback lookup. Default: the system's own lookup. */
  readonly askSystem?: AskSystem;
}

class NameError extends Error {
  readonly code: string;
  constructor(code: 'ENOTFOUND' | 'EAI_AGAIN', hostname: string) {
    super(
      code === 'ENOTFOUND'
        ? `the name ${hostname} was not found (${code})`
        : `no name server has answered about ${hostname} (${code})`,
    );
    this.code = code;
  }
}

/**
 * Resolves names for users: from `/etc/hosts`, then at the name servers of `/etc/resolv.conf`, over sockets. The
 * system's own lookup blocks one of the few threads of the process until a silent name server times out. It is only
 * used for names of a local network that no name server knows, one name at a time and in fair turns.
 */
export class NameResolver {
  readonly #servers: readonly string[] | undefined;
  readonly #hosts: HostsFile;
  readonly #underWay = new Map<unknown, number>();
  readonly #waiting = new Map<unknown, (() => void)[]>();
  readonly #system: SystemLookups;

  constructor({ servers, hostsFile = '/etc/hosts', askSystem }: Options = {}) {
    this.#servers = servers;
    this.#system = new SystemLookups(askSystem);
    this.#hosts = new HostsFile(hostsFile);
  }

  /** Returns the lookup function of an owner (a user or a run), whose concurrent lookups are limited. */
  of(owner: unknown): Resolve {
    return (hostname, options, callback) => {
      this.#lookUp(owner, hostname.toLowerCase(), options).then(
        (addresses) => callback(null, addresses),
        (error: NodeJS.ErrnoException) => callback(error, []),
      );
    };
  }

  async #lookUp(owner: unknown, name: string, { family }: LookupAllOptions): Promise<LookupAddress[]> {
    await this.#begin(owner);
    try {
      const all = await this.#find(owner, name);
      const addresses = all.filter((one) => isWanted(one, family));
      if (addresses.length === 0) throw new NameError('ENOTFOUND', name);
      return addresses;
    } finally {
      this.#end(owner);
    }
  }

  async #begin(owner: unknown): Promise<void> {
    const count = this.#underWay.get(owner) ?? 0;
    if (count < maxUnderWay) return void this.#underWay.set(owner, count + 1);
    await new Promise<void>((begin) => {
      this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), begin]);
    });
  }

  /** Passes the slot to the lookup that has waited longest. */
  #end(owner: unknown): void {
    const [next, ...others] = this.#waiting.get(owner) ?? [];
    if (others.length === 0) this.#waiting.delete(owner);
    else this.#waiting.set(owner, others);
    if (next !== undefined) return next();
    const count = (this.#underWay.get(owner) ?? 1) - 1;
    if (count === 0) this.#underWay.delete(owner);
    else this.#underWay.set(owner, count);
  }

  async #find(owner: unknown, name: string): Promise<LookupAddress[]> {
    const known = await this.#hosts.find(name);
    if (known.length > 0) return known;
    if (/(^|\.)localhost\.?$/.test(name)) return loopback;
    const found = await this.#ask(name);
    if (found.length > 0) return found;
    return ofHouse.test(name) ? this.#system.find(owner, name) : [];
  }

  async #ask(name: string): Promise<LookupAddress[]> {
    const resolver = new Resolver({ timeout: questionMs, tries: 1 });
    if (this.#servers !== undefined) resolver.setServers(this.#servers);
    const timer = setTimeout(() => resolver.cancel(), nameMs);
    try {
      for (const candidate of await readSearch(name)) {
        const found = await askBoth(resolver, candidate);
        if (found.length > 0) return found;
      }
      return [];
    } catch {
      throw new NameError('EAI_AGAIN', name);
    } finally {
      clearTimeout(timer);
    }
  }
}

const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const isWanted = (one: LookupAddress, family: LookupAllOptions['family']): boolean =>
  family === undefined || family === 0 || `IPv${one.family}` === family || one.family === family;

/** Returns the addresses of a name; empty when the name does not exist. Throws when no server has answered. */
async function askBoth(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer, at) =>
    answer.status === 'fulfilled'
      ? answer.value.map((address) => ({ address, family: at === 0 ? 4 : 6 }))
      : [],
  );
  const silent = answers.find((answer) => answer.status === 'rejected' && !isAbsence(answer.reason));
  if (found.length === 0 && silent?.status === 'rejected') throw silent.reason;
  return found;
}

const isAbsence = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOTFOUND', 'ENODATA'].includes(String(error.code));
