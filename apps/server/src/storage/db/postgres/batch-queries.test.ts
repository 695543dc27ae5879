import { describe, expect, it } from 'vitest';

import { batchQueries } from './batch-queries.ts';

/** Creates questions whose answers arrive when the test requests it. */
function openQuestions() {
  const asked: { questions: readonly number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const ask = batchQueries((questions: readonly number[]): Promise<number[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<number[]>();
    asked.push({ questions, answer: () => resolve(questions.map((question) => -question)), fail: reject });
    return promise;
  });
  return { asked, ask, sizes: () => asked.map(({ questions }) => questions.length) };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

describe('questions', () => {
  it('of one turn are one statement, and each has its own answer', async () => {
    const { asked, ask } = openQuestions();
    const answers = Promise.all([ask(1), ask(2), ask(3)]);
    await turn();
    asked[0]?.answer();
    expect(await answers).toEqual([-1, -2, -3]);
    expect(asked).toHaveLength(1);
  });

  it('that come while two statements are under way wait, and go along with the next one', async () => {
    const { asked, ask, sizes } = openQuestions();
    const answers: Promise<number>[] = [];
    for (let question = 1; question <= 8; question += 1) {
      answers.push(ask(question));
      await turn();
    }
    expect(sizes()).toEqual([1, 1]);
    asked[1]?.answer();
    await turn();
    expect(sizes()).toEqual([1, 1, 6]);
    for (const { answer } of asked) answer();
    expect(await Promise.all(answers)).toEqual([-1, -2, -3, -4, -5, -6, -7, -8]);
  });

  it('that are very many are several statements', async () => {
    const { asked, ask, sizes } = openQuestions();
    const answers = Promise.all(Array.from({ length: 40 }, (_, question) => ask(question)));
    for (let at = 0; at < 3; at += 1) {
      await turn();
      asked[at]?.answer();
    }
    expect((await answers).at(-1)).toBe(-39);
    expect(sizes()).toEqual([16, 16, 8]);
  });

  it('whose statement fails fail, and the next ones are answered', async () => {
    const { asked, ask } = openQuestions();
    const failed = Promise.allSettled([ask(1), ask(2)]);
    await turn();
    asked[0]?.fail(new Error('cut'));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = ask(3);
    await turn();
    asked[1]?.answer();
    expect(await next).toBe(-3);
  });
});
