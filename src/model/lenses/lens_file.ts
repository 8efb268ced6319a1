// Writes and reads a lens as a safetensors file: the translators by layer, and of which model they
// are.
import { ModelFileError, shown } from '../../formats/errors.ts'
import { readFloats, requireFloats } from '../../formats/safetensors.ts'
import { type OpenSafetensors, openSafetensors } from '../../formats/safetensors_header.ts'
import { writeSafetensors } from '../../formats/safetensors_write.ts'
import { Sha256 } from '../../formats/sha256.ts'
import type { ModelShape } from '../layout/config.ts'
import { TRANSLATED_READOUTS, type TranslatedReadout } from '../layout/readout.ts'
import { jacobianLens, type Lens, lensSize, translatorValues } from '../layout/translators.ts'

/** Says which model a lens belongs to: a hash of its weights in the order of the layout without an
 * adapter. */
export function modelHash(weights: Float32Array): string {
  const hash = new Sha256()
  hash.update(new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength))
  return hash.digest()
}

/** Which model a file must be of. */
export interface LensOwner {
  readonly shape: Pick<ModelShape, 'hidden_size' | 'num_hidden_layers'>
  /** Of modelHash; absent = of any model of the shape. */
  readonly hash?: string
}

const KIND = 'understory_lens'
const MODEL = 'model_weights'

/** Of a tuned lens `layers.<l>.residual` [C, C], its matrix less the identity, and
 * `layers.<l>.bias` [C]; of a Jacobian lens `layers.<l>.jacobian` [C, C]. Out by in, layer l after
 * l blocks. */
export function writeLens(
  lens: Lens,
  { shape, hash }: Required<LensOwner>,
): Uint8Array<ArrayBuffer> {
  const { hidden_size: C, num_hidden_layers: L } = shape
  const tensors = Array.from({ length: L }, (_, l) => {
    const { residual, bias } = translatorValues(lens, l)
    const named = (name: string, data: Float32Array, ...dims: number[]) =>
      [`layers.${l}.${name}`, { shape: dims, data }] as const
    if (lens.readout === 'tuned') return [named('residual', residual, C, C), named('bias', bias, C)]
    const jacobian = residual.map((x, i) => (i % (C + 1) === 0 ? x + 1 : x))
    return [named('jacobian', jacobian, C, C)]
  }).flat()
  return writeSafetensors(tensors, { format: 'pt', [KIND]: lens.readout, [MODEL]: hash })
}

/** Reads what writeLens wrote. Throws ModelFileError for a file that is no lens, that belongs to
 * another model or to one of another shape, and for numbers that are not finite. */
export function readLensFile(bytes: Uint8Array, file: string, { shape, hash }: LensOwner): Lens {
  const opened = openSafetensors(bytes, file)
  const readout = kindOf(opened)
  const { hidden_size: C, num_hidden_layers: L } = shape
  const names = [...opened.entries.keys()]
  const layers = new Set(names.map((name) => /^layers\.(\d+)\./.exec(name)?.[1]))
  if (layers.size !== L)
    throw new ModelFileError(
      file,
      `expected translators of ${L} layers, found ${layers.size}; it was fitted on a model of another shape`,
    )
  const tensor = (l: number, name: string, ...dims: number[]) =>
    readTensor(opened, `layers.${l}.${name}`, dims)
  const lens =
    readout === 'tuned'
      ? tunedLens(shape, (l) => ({
          residual: tensor(l, 'residual', C, C),
          bias: tensor(l, 'bias', C),
        }))
      : jacobianLens(
          C,
          Array.from({ length: L }, (_, l) => tensor(l, 'jacobian', C, C)),
        )
  if (hash !== undefined && opened.metadata[MODEL] !== hash)
    throw new ModelFileError(
      file,
      `expected a lens of this model (weights ${short(hash)}), found one of another model (${short(opened.metadata[MODEL])}); fit one with lab lens`,
    )
  return lens
}

/** What a file is a lens of. Throws ModelFileError for one that is none. */
export const lensKind = (bytes: Uint8Array, file: string): TranslatedReadout =>
  kindOf(openSafetensors(bytes, file))

function kindOf({ metadata, file }: OpenSafetensors): TranslatedReadout {
  const readout = TRANSLATED_READOUTS.find((name) => name === metadata[KIND])
  if (readout) return readout
  throw new ModelFileError(
    file,
    `expected a lens that the lab wrote (${KIND}: ${TRANSLATED_READOUTS.join(' or ')}), found ${shown(metadata[KIND])}`,
  )
}

function tunedLens(
  shape: LensOwner['shape'],
  of: (layer: number) => { readonly residual: Float32Array; readonly bias: Float32Array },
): Lens {
  const values = new Float32Array(lensSize(shape))
  const lens: Lens = { readout: 'tuned', hidden_size: shape.hidden_size, values }
  for (let l = 0; l < shape.num_hidden_layers; l++) {
    const own = translatorValues(lens, l)
    const { residual, bias } = of(l)
    own.residual.set(residual)
    own.bias.set(bias)
  }
  return lens
}

function readTensor(opened: OpenSafetensors, name: string, dims: readonly number[]): Float32Array {
  const { file } = opened
  const entry = opened.entries.get(name)
  if (!entry) throw new ModelFileError(file, `expected a tensor ${name}, found none`)
  if (entry.shape.join() !== dims.join())
    throw new ModelFileError(
      file,
      `tensor ${name}: expected [${dims.join(', ')}], found [${entry.shape.join(', ')}]; it was fitted on a model of another shape`,
    )
  requireFloats(entry.dtype, file, name)
  const values = new Float32Array(entry.size)
  readFloats(opened, name, values)
  const at = values.findIndex((x) => !Number.isFinite(x))
  if (at >= 0)
    throw new ModelFileError(
      file,
      `tensor ${name}, element ${at}: expected a finite number, found ${values[at]}`,
    )
  return values
}

const short = (hash: string | undefined) =>
  hash === undefined ? 'without a hash' : hash.replace('sha256-', '').slice(0, 12)
