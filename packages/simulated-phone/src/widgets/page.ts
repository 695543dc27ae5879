import { palette } from '../view/palette.ts';
import { type View, type Area, resourceId, type Ui, type Widget } from '../view/view.ts';
import { icons } from './icons.ts';
import { textLine } from './text.ts';

export interface PageOptions {
  readonly title: string;
  /** Called by the "Navigate up" arrow, which is shown only with it. */
  readonly onUp?: (() => void) | undefined;
  readonly rows: readonly Widget[];
  /** Resource ID of the list. Default: recycler_view. */
  readonly listId?: string | undefined;
}

function upButton(ui: Ui, bar: Area, onUp: () => void): View {
  const size = ui.dp(24);
  const frame = { left: bar.left, right: bar.left + ui.dp(56), top: bar.top, bottom: bar.bottom };
  const left = frame.left + ui.dp(16);
  const top = ((frame.top + frame.bottom) >> 1) - (size >> 1);
  return {
    className: 'android.widget.ImageButton',
    packageName: ui.packageName,
    frame,
    description: 'Navigate up',
    onTap: onUp,
    paint: (canvas) => canvas.icon(icons.back, { left, top, size }, palette.onSurface),
  };
}

function toolbar(ui: Ui, area: Area, { title, onUp }: PageOptions): View {
  const bar = { ...area, bottom: area.top + ui.dp(64) };
  const titleFrame = {
    left: bar.left + ui.dp(onUp ? 72 : 24),
    right: bar.right - ui.dp(24),
    top: bar.top + ui.dp(14),
    bottom: bar.bottom - ui.dp(14),
  };
  return {
    className: 'android.view.ViewGroup',
    packageName: ui.packageName,
    resourceId: resourceId(ui, 'action_bar'),
    frame: bar,
    paint: (canvas) => canvas.rect(bar, palette.surface),
    children: [
      ...(onUp ? [upButton(ui, bar, onUp)] : []),
      textLine(ui, titleFrame, { text: title, size: 22, weight: 'medium' }),
    ],
  };
}

/** Builds a full screen of an app: a title bar above a scrollable list. */
export function page(options: PageOptions): Widget {
  return (ui, area) => {
    const bar = toolbar(ui, area, options);
    const list = scrollList(options.rows, options.listId ? { id: options.listId } : {});
    return {
      className: 'android.widget.LinearLayout',
      packageName: ui.packageName,
      frame: area,
      paint: (canvas) => canvas.rect(area, palette.background),
      children: [bar, list(ui, { ...area, top: bar.frame.bottom })],
    };
  };
}

/** Builds a list that fills the rest of its area and scrolls if its rows need more. */
function scrollList(rows: readonly Widget[], options: { id?: string; className?: string } = {}): Widget {
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
      // The list became shorter, or the closed keyboard released space.
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
