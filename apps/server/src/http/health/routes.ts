import { healthRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRawRoute, addRoute } from '../requests/route.ts';

interface HealthRoutesOptions {
  metrics: Metrics;
  /** Finds an obstacle to readiness, as the end of "The service is …"; undefined if the service is ready. */
  obstacle: () => Promise<string | undefined>;
}

/** `GET /healthz` · `GET /readyz` · `GET /metrics` */
export function addHealthRoutes(app: FastifyInstance, { metrics, obstacle }: HealthRoutesOptions): void {
  addRoute(app, healthRoutes.alive, async () => ({ success: true }));

  addRoute(app, healthRoutes.ready, async () => {
    const reason = await obstacle();
    if (reason !== undefined) throw ApiError.of('not_ready', { reason });
    return { success: true };
  });

  addRawRoute(app, healthRoutes.metrics, async (_request, reply) => {
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}
