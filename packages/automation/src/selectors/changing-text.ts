/** Words for switch states in the languages of most phones. */
const stateWords = new Set(
  [
    'on off enabled disabled checked unchecked selected unselected active inactive connected disconnected',
    'ein aus an aktiviert deaktiviert aktiv inaktiv verbunden getrennt',
    'activé désactivé activado desactivado attivo disattivo attivato disattivato ativado desativado',
    'aan uit açık kapalı вкл выкл wł wył 开启 关闭 オン オフ 켜짐 꺼짐',
  ].flatMap((words) => words.split(' ')),
);

/** Patterns of numbers that mean an amount or a time. A number at the end of a name, as in `Pixel 8`, does not. */
const amounts: readonly RegExp[] = [
  // Matches 12:30, and 45 %.
  /\d:\d\d|\d\s?%/,
  // Matches texts without letters: 3, 1.204,50 €, +2.
  /^[^\p{L}]*\d[^\p{L}]*$/u,
  // Matches 3 unread, Inbox, 12 messages, 5 min ago.
  /(?:^|[\s(,:])\d[\d.,]*\s+\p{L}/u,
  // Matches 12GB, 5m.
  /^\W*\d[\d.,]*\s?(?:s|m|h|d|min|[kmgt]b)$/iu,
  // Matches Unread: 3, Inbox (3).
  /[(:]\s*\d[\d.,]*\)?$/,
];

/** Whether a text contains a state, an amount or a time, so that it changes soon. */
export function isChangingText(text: string): boolean {
  const words = text.trim().toLowerCase().replace(/^not /, '');
  return stateWords.has(words) || amounts.some((amount) => amount.test(text));
}
