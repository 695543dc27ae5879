import { SettingError } from '@phalanx/settings';
import { describe, expect, it } from 'vitest';

import { parseMail } from './mail-settings.ts';

const others = { PHALANX_MAIL_FROM: 'phalanx@example.com', PHALANX_MAIL_TO: 'example.com' };

describe('the settings of e-mail', () => {
  it('send none by default', () => {
    expect(parseMail({})).toBeUndefined();
    expect(parseMail(others)).toBeUndefined();
  });

  it.each([
    [
      'smtps://ada:a%40b@mail.example',
      { port: 465, encryption: 'tls', login: { user: 'ada', password: 'a@b' } },
    ],
    ['smtp://mail.example', { port: 587, encryption: 'starttls', login: undefined }],
    ['smtp://mail.example:25?tls=none', { port: 25, encryption: 'none' }],
    ['smtp://[::1]:25', { host: '::1', port: 25 }],
  ])('%s is understood', (url, server) => {
    expect(parseMail({ ...others, PHALANX_SMTP_URL: url })).toMatchObject({ server });
  });

  it.each([
    'mail.example:25',
    'https://mail.example',
    'smtp://',
    'smtp://mail.example/path',
    'smtp://mail.example?tls=never',
    'smtps://mail.example?tls=none',
    'smtp://ada:pass-word@mail.example?tls=none',
    'smtp://ada@mail.example',
    'smtp://ada:pass-word%zz@mail.example',
  ])('%s is refused, without the password', (url) => {
    const parse = () => parseMail({ ...others, PHALANX_SMTP_URL: url });
    expect(parse).toThrow(SettingError);
    expect(parse).not.toThrow(/pass-word/);
  });

  it('names what is missing or wrong', () => {
    const url = { PHALANX_SMTP_URL: 'smtp://mail.example' };
    expect(() => parseMail({ ...others, ...url, PHALANX_MAIL_FROM: '' })).toThrow(
      'PHALANX_MAIL_FROM is not set',
    );
    expect(() => parseMail({ ...others, ...url, PHALANX_MAIL_TO: '' })).toThrow('PHALANX_MAIL_TO is not set');
    for (const wrong of ['ada', 'ada@example.com\r\nBcc: eve@example.org', 'a b@example.com', '@example.com'])
      expect(() => parseMail({ ...others, PHALANX_MAIL_FROM: wrong }), wrong).toThrow('PHALANX_MAIL_FROM');
    for (const wrong of ['*', '@example.com', 'example.com,', 'ada@', 'exa mple.com'])
      expect(() => parseMail({ ...others, PHALANX_MAIL_TO: wrong }), wrong).toThrow('PHALANX_MAIL_TO');
  });

  it('allow addresses and whole domains, not those below them', () => {
    const list = { PHALANX_MAIL_TO: 'Example.com, bob@example.org' };
    const mail = parseMail({ ...others, ...list, PHALANX_SMTP_URL: 'smtp://mail.example' });
    const allowed = ['ada@example.com', 'bob@example.org', 'Bob@example.org'];
    const strangers = [
      'ada@example.org',
      'ada@sub.example.com',
      'ada@notexample.com',
      'bob@example.org.evil.example',
    ];
    expect(allowed.filter((address) => mail?.mayReceive(address))).toEqual(allowed);
    expect(strangers.filter((address) => mail?.mayReceive(address))).toEqual([]);
  });
});
