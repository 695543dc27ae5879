import type { TextField } from './text-field.ts';
import type { ScrollState, View } from './view.ts';

/** Where a widget may put itself: full width, from the top, at most down to the bottom. Pixels. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** What a widget needs to know of the activity it is built for. */
export interface Ui {
  readonly packageName: string;
  /** Density-independent pixels to pixels, rounded. */
  dp(value: number): number;
  /** The field of that name, made on first use and kept as long as the activity. */
  field(
    name: string,
    options?: { password?: boolean | undefined; multiline?: boolean | undefined },
  ): TextField;
  scroll(name: string): ScrollState;
  isFocused(field: TextField): boolean;
  /** Gives the input focus to a field and shows the keyboard. */
  focus(field: TextField): void;
}

/** Builds a view inside an area; its height is the bottom of the frame it returns. */
export type Widget = (ui: Ui, area: Area) => View;

/** `title` becomes `package:id/title`; a name with a colon stays, such as `android:id/title`. */
export function resourceId(ui: Ui, name: string | undefined): string | undefined {
  return name === undefined || name.includes(':') ? name : `${ui.packageName}:id/${name}`;
}
