import { button } from '../widgets/button.ts';
import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { category, listRow } from '../widgets/rows.ts';
import { text } from '../widgets/text.ts';
import { type Widget, resourceId, type Ui } from '../view/view.ts';
import { type AppContext, defineApp } from '../view/app.ts';
import { type Canvas, textWidth } from '../view/canvas.ts';
import { palette } from '../view/palette.ts';

const countries = ['Austria', 'Brazil', 'Germany', 'Japan', 'Kenya'] as const;

interface FormState {
  accepted: boolean;
  contact: 'email' | 'phone';
  country: string;
  error: string;
  summary: readonly (readonly [label: string, value: string])[];
}

function submit(app: AppContext<FormState>): () => void {
  return () => {
    const name = app.fieldText('name');
    const email = app.fieldText('email');
    const missing = [
      name === '' && 'a name',
      !email.includes('@') && 'an email address',
      !app.state.accepted && 'your consent',
    ];
    const error = missing.filter(Boolean).join(', ');
    app.change((state) => {
      state.error = error === '' ? '' : `Please give ${error}.`;
      state.summary = [
        ['Name', name],
        ['Email', email],
        ['Password', `${Array.from(app.fieldText('password')).length} characters`],
        ['City', app.fieldText('city')],
        ['Message', app.fieldText('message')],
        ['Country', state.country],
        ['Contact by', state.contact],
      ];
    })();
    if (error !== '') return app.showToast('Something is missing');
    app.open('.SummaryActivity');
  };
}

function formPage(app: AppContext<FormState>): Widget {
  const { accepted, contact, country, error } = app.state;
  const choose = (value: FormState['contact']) => app.change((state) => void (state.contact = value));
  return page({
    title: 'Registration',
    listId: 'form',
    rows: [
      category('You'),
      textField({ id: 'name', hint: 'Full name' }),
      textField({ id: 'email', hint: 'Email address' }),
      textField({ id: 'password', hint: 'Password', password: true }),
      textField({ id: 'city', hint: 'City' }),
      category('Details'),
      listRow({
        title: 'Country',
        summary: country,
        icon: icons.chevron,
        onTap: () => app.open('.CountryActivity'),
      }),
      radioButton({
        id: 'contact_email',
        label: 'Contact me by email',
        checked: contact === 'email',
        onTap: choose('email'),
      }),
      radioButton({
        id: 'contact_phone',
        label: 'Contact me by phone',
        checked: contact === 'phone',
        onTap: choose('phone'),
      }),
      textField({ id: 'message', hint: 'Message', multiline: true }),
      checkBox({
        id: 'accept',
        label: 'I accept the terms',
        checked: accepted,
        onTap: app.change((state) => void (state.accepted = !accepted)),
      }),
      ...(error === '' ? [] : [text(error, { id: 'error', color: '#ba1a1a', size: 14 })]),
      button({ id: 'submit', label: 'Submit', onTap: submit(app) }),
    ],
  });
}

function countryPage(app: AppContext<FormState>): Widget {
  const rows = countries.map((country) =>
    radioButton({
      id: 'android:id/text1',
      label: country,
      checked: app.state.country === country,
      onTap: () => {
        app.change((state) => void (state.country = country))();
        app.finish();
      },
    }),
  );
  return page({ title: 'Country', onUp: () => app.finish(), listId: 'android:id/list', rows });
}

export const formApp = defineApp<FormState>({
  packageName: 'dev.phalanx.sample.form',
  label: 'Form',
  icon: icons.pencil,
  color: '#1e6c4b',
  versionName: '1.4.0',
  versionCode: 14,
  links: ['sample-form:'],
  state: () => ({ accepted: false, contact: 'email', country: 'Germany', error: '', summary: [] }),
  activities: {
    '.FormActivity': formPage,
    '.CountryActivity': countryPage,
    '.SummaryActivity': (app) =>
      page({
        title: 'Thank you',
        onUp: () => app.finish(),
        rows: [
          text('Your registration is complete.', { id: 'result', size: 18, padding: { x: 24, y: 16 } }),
          ...app.state.summary.map(([title, summary]) =>
            listRow({ title, summary: summary === '' ? '-' : summary }),
          ),
          button({ id: 'done', label: 'Done', onTap: () => app.finish() }),
        ],
      }),
  },
});

interface FieldOptions {
  readonly id: string;
  readonly hint: string;
  readonly password?: boolean | undefined;
  readonly multiline?: boolean | undefined;
}

/** Builds an outlined EditText. */
function textField(options: FieldOptions): Widget {
  return (ui, area) => {
    const field = ui.field(options.id, options);
    const focused = ui.isFocused(field);
    const frame = {
      left: area.left + ui.dp(16),
      right: area.right - ui.dp(16),
      top: area.top + ui.dp(8),
      bottom: area.top + ui.dp(8 + 56),
    };
    const isEmpty = field.text === '';
    const shown = isEmpty ? options.hint : field.shownText;
    const size = ui.dp(16);
    const x = frame.left + ui.dp(16);
    return {
      className: 'android.widget.EditText',
      packageName: ui.packageName,
      resourceId: resourceId(ui, options.id),
      frame,
      // Android reports the hint as the text of an empty field.
      text: shown,
      hint: options.hint,
      password: options.password,
      focused,
      field,
      onTap: () => ui.focus(field),
      onLongPress: () => ui.focus(field),
      paint: (canvas) => {
        const baseline = (frame.top + frame.bottom) / 2 + size * 0.35;
        const maxWidth = frame.right - x - ui.dp(16);
        canvas.outline(frame, focused ? palette.primary : palette.outline, {
          width: ui.dp(focused ? 2 : 1),
          radius: ui.dp(6),
        });
        canvas.text(
          shown,
          { x, baseline },
          { size, maxWidth, color: isEmpty ? palette.outline : palette.onSurface },
        );
        if (!focused) return;
        const before = Array.from(field.shownText).slice(0, field.caret).join('');
        const caretX = x + Math.min(textWidth(before, { size }), maxWidth);
        const [top, bottom] = [baseline - size * 0.95, baseline + size * 0.25];
        canvas.rect({ left: caretX, right: caretX + ui.dp(2), top, bottom }, palette.primary);
      },
    };
  };
}

interface ChoiceOptions {
  readonly id: string;
  readonly label: string;
  readonly checked: boolean;
  readonly enabled?: boolean | undefined;
  readonly onTap: () => void;
}

function choice(
  ui: Ui,
  area: { left: number; top: number; right: number },
  options: ChoiceOptions & { round: boolean },
) {
  const frame = {
    left: area.left + ui.dp(16),
    right: area.right - ui.dp(16),
    top: area.top,
    bottom: area.top + ui.dp(48),
  };
  const size = ui.dp(24);
  const at = { left: frame.left + ui.dp(4), top: ((frame.top + frame.bottom) >> 1) - (size >> 1), size };
  const path = options.round
    ? options.checked
      ? icons.radioOn
      : icons.radioOff
    : options.checked
      ? icons.boxChecked
      : icons.box;
  return {
    className: options.round ? 'android.widget.RadioButton' : 'android.widget.CheckBox',
    packageName: ui.packageName,
    resourceId: resourceId(ui, options.id),
    frame,
    text: options.label,
    checkable: true,
    checked: options.checked,
    enabled: options.enabled,
    onTap: options.onTap,
    paint: (canvas: Canvas) => {
      canvas.icon(path, at, options.checked ? palette.primary : palette.secondaryText);
      const textSize = ui.dp(16);
      const baseline = (frame.top + frame.bottom) / 2 + textSize * 0.35;
      canvas.text(
        options.label,
        { x: at.left + size + ui.dp(16), baseline },
        { size: textSize, color: palette.onSurface },
      );
    },
  };
}

function checkBox(options: ChoiceOptions): Widget {
  return (ui, area) => choice(ui, area, { ...options, round: false });
}

function radioButton(options: ChoiceOptions): Widget {
  return (ui, area) => choice(ui, area, { ...options, round: true });
}
