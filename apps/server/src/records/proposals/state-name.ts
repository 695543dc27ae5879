import { type SignCondition, writeSign, writeSignTest } from '@phalanx/automation/screen-signs';

const mostWords = 5;

/** `Enjoying this app?` → `EnjoyingThisApp`. A title in other letters gives no name. */
export function stateNameOf(title: string): string {
  const words =
    title
      .normalize('NFKD')
      .replaceAll(/['’\p{M}]/gu, '')
      .match(/[A-Za-z\d]+/g) ?? [];
  const name = words
    .slice(0, mostWords)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`)
    .join('');
  return /^[A-Za-z]{2}/.test(name) ? name.slice(0, 60) : 'NewScreen';
}

interface Snippet {
  state: string;
  kind: 'state' | 'dialog';
  conditions: readonly SignCondition[];
  button: SignCondition | null;
}

/** For code in which no place was found. */
export function writeSnippet({ state, kind, conditions, button }: Snippet): string {
  const sign = writeSign(conditions);
  if (kind === 'state')
    return `// In states:\n${state}: ${sign},\n// In a function that recognises screens:\nif (${writeSignTest(conditions, 'screen')}) return '${state}';\n`;
  const press =
    button === null
      ? '() => agent.actions.back()'
      : `(screen) => ${writeSignTest([button], 'screen')}?.tap()`;
  return `// In dialogs:\n{ name: '${state}', when: ${sign}, do: ${press} },\n`;
}
