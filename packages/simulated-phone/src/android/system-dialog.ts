/** A dialog of the system above everything, such as "App keeps stopping". */
export interface SystemDialog {
  readonly title: string;
  readonly packageName: string;
  readonly options: readonly { readonly id: string; readonly label: string; readonly onTap: () => void }[];
}
