import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';

import agentTypes from '@phalanx/automation/types/agent.d.ts?raw';
import nodeTypes from '@phalanx/automation/types/android-node.d.ts?raw';

interface Member extends Completion {
  readonly owner: string;
}

/** The members of the interfaces that an automation's globals have, from the declarations themselves. */
function readMembers(text: string): Member[] {
  const members: Member[] = [];
  for (const [, owner = '', body = ''] of text.matchAll(/interface (\w+)[^{]*\{\n([^]*?)\n\}/g))
    for (const [, comment = '', name = '', rest = ''] of body.matchAll(
      /(?:^ {2}\/\*\*([^]*?)\*\/\n)?^ {2}(?:readonly )?(\w+)\??([(<:][^\n]*)/gm,
    ))
      members.push({
        owner,
        label: name,
        type: rest.startsWith(':') ? 'property' : 'method',
        detail: rest.replace(/;$/, ''),
        info: comment.replaceAll(/\s*\n\s*\*\s?/g, ' ').trim(),
      });
  return members;
}

const all = [...readMembers(agentTypes), ...readMembers(nodeTypes)];
const typeOf = (owner: string, name: string): string | undefined =>
  /^: (\w+)/.exec(all.find((member) => member.owner === owner && member.label === name)?.detail ?? '')?.[1];
const nodeMembers = all.filter(({ owner }) => owner === 'AndroidNode');

/** What stands after `agent.`, `agent.actions.` and so on; after other names, what a node of the screen has. */
export function completeAgent(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/[\w$.]+\.\w*/);
  if (before === null) return null;
  const [first = '', ...rest] = before.text.split('.');
  const word = rest.pop() ?? '';
  const from = context.pos - word.length;
  if (first !== 'agent') return rest.length === 0 ? { from, options: nodeMembers, validFor: /^\w*$/ } : null;
  let owner: string | undefined = 'Agent';
  for (const name of rest) owner = owner === undefined ? undefined : typeOf(owner, name);
  // Actions have the waits too.
  const owners = [owner, owner === 'AgentActions' ? 'AgentWaits' : undefined];
  return { from, options: all.filter((member) => owners.includes(member.owner)), validFor: /^\w*$/ };
}
