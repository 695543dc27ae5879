import { type AnswerOptions, answerRequest, type PhoneRequest } from './answer-request.ts';

const maxWidth = 1080;

/** Answers one `screenshot` of the server: a JPEG. */
export const answerScreenshot = (request: PhoneRequest, options: AnswerOptions): Promise<void> =>
  answerRequest({ ...request, type: 'screenshot' }, options, async (phone, signal) => {
    const { base64 } = await phone.driver().call('screen.screenshot', { format: 'jpeg', maxWidth }, signal);
    return Buffer.from(base64, 'base64');
  });
