import { expect, it } from 'vitest';
import { InProcessNetwork } from './in-process-network.ts';

it('a message reaches the other members in order, and not the one that sends it', async () => {
  const network = new InProcessNetwork();
  const [one, other, third] = [network.join(), network.join(), network.join()];
  const heard: string[] = [];
  one.subscribe('subject', (text) => heard.push(`one ${text}`));
  const end = other.subscribe('subject', (text) => heard.push(`other ${text}`));
  third.subscribe('another subject', (text) => heard.push(`third ${text}`));
  one.publish('subject', '1');
  one.publish('subject', '2');
  await new Promise(setImmediate);
  expect(heard).toEqual(['other 1', 'other 2']);
  end();
  one.publish('subject', '3');
  await new Promise(setImmediate);
  expect(heard).toHaveLength(2);
});

it('a question is answered by the member that can, with its result or its refusal', async () => {
  const network = new InProcessNetwork();
  const [one, other] = [network.join(), network.join()];
  await expect(one.ask('screen', '')).rejects.toThrow('its host is not connected');
  const end = other.answer('screen', async (question) => Buffer.from(`answer to ${question}`));
  expect(String(await one.ask('screen', 'one'))).toBe('answer to one');
  await expect(other.ask('screen', 'itself')).rejects.toThrow('its host is not connected');
  end();
  other.answer('screen', () => Promise.reject(new Error('the screen is off')));
  await expect(one.ask('screen', '')).rejects.toThrow('the screen is off');
  await other.close();
  await expect(one.ask('screen', '')).rejects.toThrow('its host is not connected');
});
