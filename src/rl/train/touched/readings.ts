// Reads layers in other ways. A tuned lens and a Jacobian lens are fitted on what the model writes
// itself, and the policies of all layers are measured under every reading on held-out texts.

import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { TOP_K } from '../../../kernels/top_k/top_k.ts'
import { readTokens, readTokensRoom } from '../../../model/internals/read_tokens.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import {
  type Readout,
  TRANSLATED_READOUTS,
  type TranslatedReadout,
} from '../../../model/layout/readout.ts'
import { jacobianLens, type Lens, lensSize } from '../../../model/layout/translators.ts'
import {
  createJacobianTensors,
  JacobianFit,
  jacobianContexts,
} from '../../../model/lenses/jacobian_fit.ts'
import { uploadedLens } from '../../../model/lenses/lens.ts'
import { type LensOwner, readLensFile } from '../../../model/lenses/lens_file.ts'
import { type LensRows, lensRows, passSize } from '../../../model/lenses/lens_rows.ts'
import {
  type ComparedTensors,
  createCompared,
  LayerReader,
  type ReadLayer,
} from '../../../model/lenses/read_layers.ts'
import { createTunedTensors, TunedFit } from '../../../model/lenses/tuned_fit.ts'
import { createModel, type Model, uploadModel } from '../../../model/transformer/model.ts'
import { FIT, type LensSettings } from '../../config/lens_settings.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { HeldOut } from './answers/held_out.ts'
import { type OwnTexts, ownTexts, type TextCounts } from './own_texts.ts'

/** The file of a lens that is read in place of one that is fitted. */
export interface GivenLens {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Another state of the same run, which is read through the same lenses. */
type OtherState = () => Promise<{ readonly step: number; readonly weights: Float32Array }>

export interface Readings {
  readonly settings: LensSettings
  /** Lenses that were read from a file, and its name. */
  readonly files: Readonly<Partial<Record<TranslatedReadout, string>>>
  /** Tokens that the lenses were fitted on and measured on. */
  readonly tokens: { readonly fitted: number; readonly held_out: number }
  /** Of held-out texts: every layer below the last under every reading, and the final policy. A
   * tuned lens begins as 'normed', so that is its KL before the fit. */
  readonly layers: readonly ReadLayer[]
  /** The same of every state that was read, in the order of their steps, on the same texts. */
  readonly states: readonly { readonly step: number; readonly layers: readonly ReadLayer[] }[]
  /** What the same layers would say next in some held-out texts. */
  readonly texts: readonly ReadText[]
}

/** One text, a token at a time. */
export interface ReadText {
  /** As texts. */
  readonly tokens: readonly string[]
  /** By layer and reading, in the order of `Readings.layers`: the likeliest next token at each
   * token, and its probability. */
  readonly said: readonly {
    readonly layer: number
    readonly readout: Readout
    readonly top: readonly string[]
    readonly probs: readonly number[]
  }[]
}

/** Held-out texts that are read token by token. */
const SHOWN_TEXTS = 4

/** How one pass over texts lies. */
const passOf = (texts: OwnTexts) => {
  const longest = [...texts.trained, ...texts.held_out].map((ids) => ids.length)
  return passSize(Math.max(texts.trained.length, texts.held_out.length), Math.max(1, ...longest))
}

const batchesOf = (texts: readonly (readonly number[])[], size: Pick<LensRows, 'rows' | 'width'>) =>
  Array.from({ length: Math.ceil(texts.length / size.rows) }, (_, i) =>
    lensRows(texts.slice(i * size.rows, (i + 1) * size.rows), size),
  )

const tokensOf = (texts: readonly (readonly number[])[]) =>
  texts.reduce((sum, { length }) => sum + length, 0)

/** What this takes, on a plan. */
export function planReadings(
  alloc: Allocator,
  config: TrainerConfig,
  layout: ParamLayout,
  { texts, held_out }: LensSettings,
): void {
  const { shape } = layout
  const { size } = HeldOut.room(alloc, config, layout)
  const pass = passSize(Math.max(texts, held_out), size.prompt_length + size.response_length)
  createModel(alloc, layout)
  const compared = createCompared(alloc, shape, pass)
  createTunedTensors(alloc, shape, shape.num_hidden_layers)
  createJacobianTensors(alloc, shape, pass)
  alloc.tensor('lenses', 'f32', [2, lensSize(shape)])
  LayerReader.room(alloc, compared, readsOf(shape).length)
  const shown = { rows: Math.min(SHOWN_TEXTS, held_out), width: pass.width }
  readTokensRoom(alloc, shape, shown, readsOf(shape).length)
}

/** Every layer below the last under every reading, and the final policy. */
function readsOf({ num_hidden_layers: L }: ModelShape) {
  const readouts: readonly Readout[] = ['raw', 'normed', ...TRANSLATED_READOUTS]
  return [
    ...Array.from({ length: L }, (_, layer) => readouts.map((readout) => ({ layer, readout }))),
    [{ layer: L, readout: 'normed' as const }],
  ].flat()
}

/** Lenses of files, by kind. */
type GivenLenses = ReadonlyMap<Readout, { readonly name: string; readonly lens: Lens }>

/** The lenses of files. Throws RangeError for two of one kind, and ModelFileError for a file that
 * is no lens of this model. */
export function givenLenses(files: readonly GivenLens[], owner: Required<LensOwner>): GivenLenses {
  if (files.length === 0) return new Map()
  const read = files.map((file) => ({
    ...file,
    lens: readLensFile(file.bytes, file.name, owner),
  }))
  const byKind = new Map<Readout, (typeof read)[number]>(read.map((one) => [one.lens.readout, one]))
  if (byKind.size < read.length)
    throw new RangeError(
      `expected one lens of each kind, found ${read.map(({ name, lens }) => `${name} (${lens.readout})`).join(' and ')}`,
    )
  return byKind
}

/** Fits the lenses that no file gives on texts of the model's own, and measures; then reads the
 * other states through them. `onProgress`: steps of the work. */
export async function readings(
  gpu: Gpu,
  read: ReadModel,
  { settings, given = new Map(), others = [] }: ReadingsWork,
  onProgress: (done: number, of: number) => void = () => {},
): Promise<{ readonly readings: Readings; readonly lenses: readonly Lens[] }> {
  const { config, layout, weights, step } = read
  const counts: TextCounts = { trained: settings.texts, held_out: settings.held_out }
  const texts = await ownTexts(gpu, config, { layout, weights }, counts)
  const size = passOf(texts)
  const batches = batchesOf(texts.trained, size)
  const model = createModel(gpu, layout)
  uploadModel(gpu, model, weights)
  let done = 0
  const of =
    (given.has('tuned') ? 0 : settings.steps) +
    (given.has('jacobian') ? 0 : layout.shape.hidden_size * batches.length) +
    1 +
    others.length
  const onDone = () => onProgress(++done, of)
  const compared = createCompared(gpu, layout.shape, size)
  const tuned =
    given.get('tuned')?.lens ??
    (await fitTuned(gpu, model, { compared, batches }, settings, onDone))
  const jacobian =
    given.get('jacobian')?.lens ?? (await fitJacobian(gpu, model, batches, settings, onDone))
  const lenses = [tuned, jacobian]
  const { shape } = layout
  const onDevice = Object.fromEntries(
    lenses.map((lens) => [lens.readout, uploadedLens(gpu, shape, lens)]),
  )
  const through = { ...model, lenses: onDevice }
  const reader = await LayerReader.create(gpu, through, compared, readsOf(shape))
  const heldOut = batchesOf(texts.held_out, size)
  const layers = await reader.measure(heldOut)
  onDone()
  const tokens = { fitted: tokensOf(texts.trained), held_out: tokensOf(texts.held_out) }
  const shown = texts.held_out.slice(0, SHOWN_TEXTS)
  const said = await saidIn(gpu, through, shown, config.task.tokenizer.tokens)
  const states = [{ step, layers }]
  for (const other of others) {
    const { step, weights } = await other()
    uploadModel(gpu, model, weights)
    states.push({ step, layers: await reader.measure(heldOut) })
    onDone()
  }
  states.sort((a, b) => a.step - b.step)
  const named = Object.fromEntries([...given].map(([kind, { name }]) => [kind, name]))
  return { readings: { settings, files: named, tokens, layers, states, texts: said }, lenses }
}

interface ReadingsWork {
  readonly settings: LensSettings
  readonly given?: GivenLenses
  readonly others?: readonly OtherState[] | undefined
}

interface ReadModel {
  readonly step: number
  readonly config: TrainerConfig
  /** Without an adapter. */
  readonly layout: ParamLayout
  readonly weights: Float32Array
}

/** Fits a tuned lens by AdamW, whose rate falls to zero; its steps take the batches in turn. */
async function fitTuned(
  gpu: Gpu,
  model: Model,
  {
    compared,
    batches,
  }: { readonly compared: ComparedTensors; readonly batches: readonly LensRows[] },
  { steps, lr }: Pick<LensSettings, 'steps' | 'lr'>,
  onDone: () => void = () => {},
): Promise<Lens> {
  const fit = await TunedFit.create(gpu, model, compared, { lr, ...FIT.optimizer })
  await fit.run(batches, { steps, lr }, onDone)
  const [values] = await gpu.read(fit.lens.flat)
  return { readout: 'tuned', hidden_size: model.shape.hidden_size, values }
}

/** Fits a Jacobian lens. Throws RangeError where no text is long enough. */
async function fitJacobian(
  gpu: Gpu,
  model: Model,
  batches: readonly LensRows[],
  { skip_first }: Pick<LensSettings, 'skip_first'>,
  onDone: () => void = () => {},
): Promise<Lens> {
  const contexts = batches.reduce((sum, rows) => sum + jacobianContexts(rows, skip_first), 0)
  if (contexts === 0)
    throw new RangeError(
      `Jacobian lens: expected texts of more than ${skip_first + 1} tokens, found none; skip fewer`,
    )
  const fit = await JacobianFit.create(gpu, model, batches[0])
  fit.begin()
  for (const rows of batches) await fit.add(rows, { skip_first, contexts }, onDone)
  return jacobianLens(model.shape.hidden_size, await fit.read())
}

/** What every layer would say next in each of these texts. */
async function saidIn(
  gpu: Gpu,
  model: Model,
  texts: readonly (readonly number[])[],
  names: readonly string[],
): Promise<ReadText[]> {
  const size = { rows: texts.length, width: Math.max(...texts.map(({ length }) => length)) }
  const reads = await readTokens(gpu, model, lensRows(texts, size), readsOf(model.shape))
  // A model may have more ids than the tokenizer has texts.
  const nameOf = (id: number) => names[id] ?? `<${id}>`
  return texts.map((ids, b) => ({
    tokens: ids.map(nameOf),
    said: reads.map(({ layer, readout, ids: top, probs }) => {
      const at = (t: number) => (b * size.width + t) * TOP_K
      return {
        layer,
        readout,
        top: ids.map((_, t) => nameOf(top[at(t)])),
        probs: ids.map((_, t) => probs[at(t)]),
      }
    }),
  }))
}
