// Puts the steering vectors of a file into a trainer at its first step.
import { readSteering } from '../../model/interventions/steering.ts'
import { ownAdapter } from '../../model/layout/adapter_layout.ts'
import { modelHash } from '../../model/lenses/lens_file.ts'
import type { Trainer } from './trainer.ts'

/** Times `strength`, the vectors of the layers that the trainer trains; its frozen weights are
 * there. Throws ModelFileError for a file of another model, of another shape or with a number that
 * is not finite. */
export async function beginVectors(
  trainer: Pick<Trainer, 'layout' | 'exportWeights' | 'importAdapter'>,
  { bytes, name, strength }: { bytes: Uint8Array; readonly name: string; strength: number },
): Promise<void> {
  const { shape } = trainer.layout
  const own = ownAdapter(shape)
  if (!own) throw new RangeError('vectors: expected a trainer of steering vectors')
  const model_hash = modelHash(await trainer.exportWeights())
  const { vectors } = readSteering(bytes, name, { ...shape, model_hash })
  const flat = new Float32Array(own.size)
  for (const [layer, slice] of own.vectors.entries())
    if (slice)
      flat.set(
        vectors[layer].map((x) => strength * x),
        slice.offset,
      )
  trainer.importAdapter(flat)
}
