// Which matrix products a run makes: what the tuner measures before it.
import type { MatmulProduct } from '../kernels/matmul/matmul_tune.ts'
import { shapeClass } from '../kernels/matmul/matmul_variants.ts'
import { modelShape } from '../model/config.ts'
import { matmulProducts } from '../model/transformer.ts'
import { phaseRows } from './actor.ts'
import { actorSize, rolloutSizes } from './memory.ts'
import type { TrainerConfig } from './trainer.ts'

/** One product of every shape class of a run: forward and backward of its passes, and the decode of its rollouts. */
export function runProducts(config: TrainerConfig): MatmulProduct[] {
  const shape = modelShape(config.model)
  const { prompt_length, response_length } = actorSize(config)
  const width = prompt_length + response_length
  const passes = config.phases.flatMap((phase) =>
    matmulProducts(shape, phaseRows(phase, width, config.model).micro * width),
  )
  const decodes = rolloutSizes(config).flatMap(({ rows }) => [
    ...matmulProducts(shape, rows).filter(({ op }) => op === 'nt' || op === 'nt_add'),
    { op: 'nt', m: rows, n: shape.vocab_size, k: shape.hidden_size } as const,
  ])
  const products = [...passes, ...decodes]
  return [...new Map(products.map((p) => [shapeClass(p.op, p), p])).values()]
}
