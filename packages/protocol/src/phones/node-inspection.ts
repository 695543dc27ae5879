import { Type, type Static } from 'typebox';

import { Bounds } from './phone-answers.ts';

const words = Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]);

/** A way to find a node in code, tried on the screen that it is on. */
const FoundSelector = Type.Object(
  {
    wait: Type.String({
      maxLength: 20_000,
      description: 'Waits for the node',
      examples: ["agent.actions.waitForId('name')"],
    }),
    find: Type.String({
      maxLength: 20_000,
      description: 'Finds it on a screen that was read',
      examples: ["screen.findById('name')"],
    }),
    use: Type.String({ maxLength: 20_000, description: 'A statement that waits for it and uses it' }),
    count: Type.Integer({ minimum: 0, description: 'How many nodes of the screen it fits' }),
    finds: Type.Enum(['alone', 'nearest', 'first', 'another'] as const, {
      description: 'Which of them the code gives: this one alone, the nearest or the first; or another one',
    }),
    depends_on: Type.Union([Type.Enum(['state', 'order'] as const), Type.Null()], {
      description: 'What makes it find another node later',
    }),
  },
  { title: 'FoundSelector' },
);

/** One node of a screen, with all that the phone says of it, and the code that finds it. */
export const NodeInspection = Type.Object(
  {
    class_name: words,
    id: words,
    text: words,
    description: words,
    hint: words,
    package_name: Type.String({ maxLength: 1000 }),
    bounds: Bounds,
    is: Type.Array(Type.String({ maxLength: 50 }), {
      maxItems: 20,
      description: 'What it is: `clickable`, `checked`, `disabled` and so on',
      examples: [['clickable']],
    }),
    children: Type.Integer({ minimum: 0 }),
    selectors: Type.Array(FoundSelector, { maxItems: 20, description: 'The most lasting first' }),
  },
  { title: 'NodeInspection' },
);
export type NodeInspection = Static<typeof NodeInspection>;
