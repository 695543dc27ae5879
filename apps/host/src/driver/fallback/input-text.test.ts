import { describe, expect, it } from 'vitest';
import { inputTextCommands } from './input-text.ts';

describe('typing through the shell', () => {
  it.each([
    ['', []],
    ['hello', ["input text 'hello'"]],
    ['two words', ["input text 'two%swords'"]],
    ['it\'s $HOME `id` \\ "x"', ["input text 'it'\\''s%s$HOME%s`id`%s\\%s\"x\"'"]],
    ['100%sure', ["input text '100%'", "input text 'sure'"]],
    ['%s%s', ["input text '%'", "input text 's%'", "input text 's'"]],
    ['50% so', ["input text '50%%sso'"]],
    [
      'a\nb\r\nc\td',
      [
        "input text 'a'",
        'input keyevent 66',
        "input text 'b'",
        'input keyevent 66',
        "input text 'c'",
        'input keyevent 61',
        "input text 'd'",
      ],
    ],
  ])('types %j', (text, commands) => {
    expect(inputTextCommands(text)).toEqual(commands);
  });

  it.each(['grüße', '日本', '😀', 'a\u0000b', '\u001b'])('refuses %j with the character at fault', (text) => {
    expect(() => inputTextCommands(text)).toThrow(expect.objectContaining({ code: 'text_not_typable' }));
  });
});
