/** Address of the NATS of this run of the tests; undefined where it is not installed. */
export const natsUrl = process.env['TEST_NATS'];
