interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of concurrent statements: one executes while the rows of the other are processed. */
const maxUnderWay = 2;
/** Maximum number of questions in a statement, which bounds the wait of each caller. */
const maxTogether = 16;

/**
 * Batches small database queries of many callers, because a statement costs more than what it finds. Questions that
 * arrive while statements are in flight join the next one. `ask` returns the answers in the order of the questions;
 * when it fails, all of them fail.
 */
export function batchQueries<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let waiting: Waiting<Question, Answer>[] = [];
  let underWay = 0;

  async function askNext(): Promise<void> {
    if (waiting.length === 0 || underWay === maxUnderWay) return;
    const group = waiting.slice(0, maxTogether);
    waiting = waiting.slice(maxTogether);
    underWay += 1;
    void askNext();
    try {
      const answers = await ask(group.map(({ question }) => question));
      for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    underWay -= 1;
    void askNext();
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      // Start at the end of this turn of the event loop, so that its other questions can join.
      if (waiting.length === 1) setImmediate(() => void askNext());
    });
}
