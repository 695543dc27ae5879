import type { View } from '../view/view.ts';
import { resourceId, type Widget } from '../view/widget.ts';

/** A list that fills the rest of its area and scrolls when its rows need more. */
export function scrollList(
  rows: readonly Widget[],
  options: { id?: string; className?: string } = {},
): Widget {
  const id = options.id ?? 'recycler_view';
  return (ui, area) => {
    const state = ui.scroll(id);
    const layOut = (): View[] => {
      const views: View[] = [];
      let top = area.top - state.offset;
      for (const row of rows) {
        const view = row(ui, { ...area, top });
        views.push(view);
        top = view.frame.bottom;
      }
      state.max = Math.max(0, top + state.offset - area.bottom);
      return views;
    };
    let views = layOut();
    if (state.offset > state.max) {
      // The list became shorter, or the keyboard gave room back.
      state.offset = state.max;
      views = layOut();
    }
    return {
      className: options.className ?? 'androidx.recyclerview.widget.RecyclerView',
      packageName: ui.packageName,
      resourceId: resourceId(ui, id),
      frame: area,
      clips: true,
      scroll: state,
      children: views,
    };
  };
}
