// Reads and writes steering vectors: a direction for each layer that is added to the residual
// stream after it.
import { ModelFileError } from '../../formats/errors.ts'
import { readSafetensors } from '../../formats/safetensors.ts'
import { writeSafetensors } from '../../formats/safetensors_write.ts'
import type { Change } from './intervention_tensors.ts'

export interface SteeringVectors {
  /** The model that they belong to: modelHash of its weights (lenses/lens_file.ts). */
  readonly model_hash: string
  /** How they were made, as a sentence. */
  readonly made: string
  /** By layer, 0 to L: hidden_size numbers. */
  readonly vectors: readonly Float32Array[]
}

const FORMAT = 'understory-steering-1'
const nameOf = (layer: number) => `steering.${layer}`

/** A safetensors file: steering.0 … steering.L, each [hidden_size] float32. */
export const steeringFile = ({
  vectors,
  model_hash,
  made,
}: SteeringVectors): Uint8Array<ArrayBuffer> =>
  writeSafetensors(
    vectors.map((data, layer) => [nameOf(layer), { shape: [data.length], data }] as const),
    { format: FORMAT, model_hash, made },
  )

/** Reads such a file for a model of L blocks. Throws ModelFileError for another format, another
 * model, a layer that is missing or of another size, and a number that is not finite. */
export function readSteering(
  bytes: Uint8Array,
  file: string,
  of: {
    readonly num_hidden_layers: number
    readonly hidden_size: number
    readonly model_hash: string
  },
): SteeringVectors {
  const { tensors, metadata } = readSafetensors(bytes, file)
  const { format, model_hash, made = '' } = metadata
  if (format !== FORMAT)
    throw new ModelFileError(
      file,
      `expected steering vectors (${FORMAT}), found ${format ?? 'a file that does not say what it is'}`,
    )
  const L = of.num_hidden_layers
  const vectors = Array.from({ length: L + 1 }, (_, layer) => {
    const name = nameOf(layer)
    const tensor = tensors.get(name)
    if (tensor?.dtype !== 'F32' || tensor.data.length !== of.hidden_size)
      throw new ModelFileError(
        file,
        `tensor ${name}: expected ${of.hidden_size} numbers in F32, found ${tensor ? `${tensor.data.length} in ${tensor.dtype}` : 'none'}: the vectors belong to a model of another shape`,
      )
    const bad = tensor.data.findIndex((x) => !Number.isFinite(x))
    if (bad >= 0)
      throw new ModelFileError(
        file,
        `tensor ${name}, element ${bad}: expected a finite number, found ${tensor.data[bad]}`,
      )
    return Float32Array.from(tensor.data)
  })
  if (tensors.size > L + 1)
    throw new ModelFileError(
      file,
      `expected ${L + 1} layers, found ${tensors.size}: the vectors belong to a model of another shape`,
    )
  if (model_hash !== of.model_hash)
    throw new ModelFileError(
      file,
      `the vectors belong to the model ${model_hash}, and this one is ${of.model_hash}: take the state that they were made in`,
    )
  return { model_hash, made, vectors }
}

/** Adds `strength` times the vector of a layer to its residual stream. */
export const steeringChange = (
  { vectors }: Pick<SteeringVectors, 'vectors'>,
  layer: number,
  strength: number,
): Change => ({
  where: 'residual',
  layer,
  adds: true,
  values: vectors[layer].map((x) => strength * x),
})
