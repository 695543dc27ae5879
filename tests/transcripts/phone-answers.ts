import type { ServerMessage } from '@phalanx/protocol';

type Question = Extract<ServerMessage, { request_id: string }>;

/** Screen with two buttons. */
const screen = JSON.stringify({
  captured_at: 1,
  rotation: 0,
  width: 1080,
  height: 2424,
  picture: null,
  tree: {
    packageName: 'com.shop',
    source: '',
    root: {
      children: ['Milk', 'Salt'].map((text) => ({
        className: 'android.widget.Button',
        text,
        clickable: true,
      })),
    },
  },
});

const acted = (steps: number): string => {
  const results = Array.from({ length: steps }, () => ({ state: 'done' }));
  return JSON.stringify({ results, captures: 2, settled: true, code: ['await agent.actions.home();'] });
};

/** Returns the reply of Ann's phones. Undefined: the default reply of a test host. */
export function answerOf(question: Question): Buffer | undefined {
  const { type, request_id } = question;
  const head = JSON.stringify({ type, request_id });
  if (type === 'screen') return Buffer.from(`${head}\n${screen}`);
  return type === 'act' ? Buffer.from(`${head}\n${acted(question.steps.length)}\n${screen}`) : undefined;
}
