/** Words by which switches describe their state, in the languages of most phones. */
const stateWords = new Set(
  [
    'on off enabled disabled checked unchecked selected unselected active inactive connected disconnected',
    'ein aus an aktiviert deaktiviert aktiv inaktiv verbunden getrennt',
    'activé désactivé activado desactivado attivo disattivo attivato disattivato ativado desativado',
    'aan uit açık kapalı вкл выкл wł wył 开启 关闭 オン オフ 켜짐 꺼짐',
  ].flatMap((words) => words.split(' ')),
);

/** Numbers that stand for an amount or a time. One at the end of a name, as in `Pixel 8`, does not. */
const amounts: readonly RegExp[] = [
  // 12:30, and 45 %
  /\d:\d\d|\d\s?%/,
  // Without a letter: 3, 1.204,50 €, +2
  /^[^\p{L}]*\d[^\p{L}]*$/u,
  // 3 unread, Inbox, 12 messages, 5 min ago
  /(?:^|[\s(,:])\d[\d.,]*\s+\p{L}/u,
  // 12GB, 5m
  /^\W*\d[\d.,]*\s?(?:s|m|h|d|min|[kmgt]b)$/iu,
  // Unread: 3, Inbox (3)
  /[(:]\s*\d[\d.,]*\)?$/,
];

/** Whether a text tells a state, an amount or a time, so that it is another one soon. */
export function isChangingText(text: string): boolean {
  const words = text.trim().toLowerCase().replace(/^not /, '');
  return stateWords.has(words) || amounts.some((amount) => amount.test(text));
}
