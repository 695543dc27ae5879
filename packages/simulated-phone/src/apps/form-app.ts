import { button } from '../widgets/button.ts';
import { checkBox, radioButton, textField } from '../widgets/form.ts';
import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { category, listRow } from '../widgets/rows.ts';
import { text } from '../widgets/text.ts';
import type { Widget } from '../view/widget.ts';
import { type AppContext, defineApp } from '../view/app.ts';

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
