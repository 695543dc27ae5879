import { calls, thrown } from './calls';

export async function running(): Promise<void> {
  await calls<AgentRun>('AgentRun', {
    attach: async () => {
      await agent.run.attach('names.txt', 'text');
      await agent.run.attach('names.bin', new Uint8Array(500_000));
      await agent.run.attach('names.json', { a: [1, 2] });
      const twice = await thrown(() => agent.run.attach('NAMES.txt', 'again'));
      const path = await thrown(() => agent.run.attach('../names.txt', 'text'));
      const wrong = await thrown(() => agent.run.attach('none', () => 1));
      const refused = [twice, path].every(
        (error) => error instanceof AgentError && error.code === 'attach_refused',
      );
      return refused && wrong instanceof TypeError;
    },
  });
  await calls<Omit<AttachOptions, keyof ActionOptions>>('AttachOptions', {
    contentType: async () => {
      const wrong = await thrown(() => agent.run.attach('typed', 'text', { contentType: 'text' }));
      await agent.run.attach('typed', 'text', { contentType: 'text/csv' });
      return wrong instanceof AgentError && wrong.code === 'invalid_call';
    },
  });
}
