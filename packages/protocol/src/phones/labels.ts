import { Type, type Static } from 'typebox';

import { maxLabels } from './device-selector.ts';

export const Labels = Type.Record(Type.String(), Type.String(), {
  description: `Up to ${maxLabels}. Keys of small letters, digits and \`_.-\`; values of up to 100 characters without comma and \`|\``,
  examples: [{ country: 'de', rack: '3' }],
});
export type Labels = Static<typeof Labels>;

export const Selector = Type.String({
  minLength: 1,
  maxLength: 1000,
  description:
    'Terms with commas between them, all of which hold: `key=value`, `key!=value`, `key~part`, `key!~part`, `key>=number`, `key<=number`. `|` separates alternatives of a value. Keys are labels, `pool`, and `id`, `serial`, `name`, `maker`, `model`, `android`, `sdk`, `host`, `state`; letter case does not count',
  examples: ['country=de,model~Pixel'],
});
