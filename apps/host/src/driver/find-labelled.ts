import { bestRanked, createTextRank, type TextRank, textRanks } from '@phalanx/automation/text-rank';
import type { DialogButton, DialogButtons } from '@phalanx/protocol';

/**
 * Finds the button of a dialog with this visible label. Never matches a part of a label: `Allow` is not `Don't allow`.
 */
export function findLabelled(dialog: DialogButtons, label: string): DialogButton | undefined {
  const rankOf = createTextRank(label);
  const wholeRank = ({ label: text }: DialogButton): TextRank | undefined => {
    const rank = rankOf(text);
    return rank !== undefined && rank <= textRanks.equalInOtherCase ? rank : undefined;
  };
  return bestRanked(dialog.listChoices(), wholeRank)[0];
}
