import { distanceOf } from '../texts/nearest-texts.ts';
import { findOurs, foreignWebMembers } from './foreign-members.ts';
import { foreignGlobals, foreignModules } from './foreign-globals.ts';
import { agentPaths, nodeMethods } from './our-names.ts';

/** Maximum edit distance as a fraction of the longer name. A name farther from all of ours gets no suggestion. */
const maxDistance = 0.4;
const agentTypes = /^(?:Agent\w*|OutOfStepsUtils|JobUtils)$/;
const nodeTypes = /^AndroidNode\b/;
const webTypes = /^(?:number|ReadableStream|SubtleCrypto|Performance|ImportMeta|\{)/;

/** Returns advice for a missing global, such as "use globalThis"; undefined for unknown names. */
export const hintOfGlobal = (name: string): string | undefined => own(foreignGlobals, name);

/** Returns advice for a missing module, with or without the prefix `node:`. */
export const hintOfModule = (name: string): string | undefined =>
  own(foreignModules, name.replace(/^node:/, ''));

/** Missing member of a type, as used in code. */
export interface MissingMember {
  name: string;
  /** Type as the compiler prints it, such as `AgentActions`. */
  type: string;
  /** Member that the code reads from the missing one. */
  next?: string | undefined;
}

/** Returns advice for an unknown member of `agent`, of a node or of a web object. */
export function hintOfMember({ name, type, next }: MissingMember): string | undefined {
  if (webTypes.test(type)) return own(foreignWebMembers, name);
  const isAgent = agentTypes.test(type);
  if (!isAgent && !nodeTypes.test(type)) return undefined;
  const ofNext = next === undefined ? undefined : (use(findOurs(next)) ?? exactly(next));
  return ofNext ?? exactly(name, isAgent) ?? use(findOurs(name)) ?? nearest(name, isAgent);
}

/**
 * Returns an engine error's message with a replacement for the missing name: "TypeError: agent.click is not a
 * function" continues with ". Use agent.actions.tap(x, y), …".
 */
export function explainMessage(message: string): string {
  const hint = hintOfError(message);
  return hint === undefined ? message : `${message}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
}

function hintOfError(message: string): string | undefined {
  const undefinedName = /^ReferenceError: ([\w$]+) is not defined$/.exec(message)?.[1];
  if (undefinedName !== undefined) return hintOfGlobal(undefinedName);
  const unread = /^TypeError: Cannot read properties of undefined \(reading '([\w$]+)'\)$/.exec(message)?.[1];
  if (unread !== undefined) return use(findOurs(unread));
  const called = /^TypeError: (.*?)([\w$]+) is not a function$/.exec(message);
  const [, owner = '', name = ''] = called ?? [];
  if (!owner.endsWith('.')) return undefined;
  const isAgent = /\bagent\.|^(?:actions|utils|apps|files)\.$/.test(owner);
  const found =
    own(foreignWebMembers, name) ?? (isAgent ? exactly(name, true) : undefined) ?? use(findOurs(name));
  return found ?? (isAgent ? nearest(name, true) : undefined);
}

const use = (ours: string | undefined): string | undefined =>
  ours === undefined ? undefined : `use ${ours}`;

/** Finds our member with exactly this name at another path. */
function exactly(name: string, isAgent = true): string | undefined {
  const path = isAgent ? agentPaths.find((known) => known.endsWith(`.${name}`) && isTouch(known)) : undefined;
  if (path !== undefined) return `use agent.${path}()`;
  return nodeMethods.includes(name)
    ? `use ${name}() of a node, such as of await agent.actions.screenContent()`
    : undefined;
}

/** Whether the path is a touch action. Names like `get`, `list` and `type` have other meanings elsewhere. */
const isTouch = (path: string): boolean => path.startsWith('actions.');

function nearest(name: string, isAgent: boolean): string | undefined {
  const candidates = isAgent ? agentPaths.map((path) => `agent.${path}`) : nodeMethods;
  const [best] = candidates
    .map((path) => ({
      path,
      distance: distanceOf(lastOf(path).toLowerCase(), name.slice(0, 80).toLowerCase()),
    }))
    .sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= maxDistance ? `use ${best.path}()` : undefined;
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

const own = (table: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
