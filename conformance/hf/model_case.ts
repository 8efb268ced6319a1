// Reads one Hugging Face model case: a model directory and what Hugging Face computed with it.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { modelDirectory } from '../../src/cli/input/model_dir.ts'
import { readSafetensors, type SafeTensor } from '../../src/formats/safetensors.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import { type HfModel, readHfModel } from '../../src/model/hf/hf_model.ts'
import type { ModelShape } from '../../src/model/layout/config.ts'
import { type Head, unpackWeights } from '../../src/model/layout/params.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { CaseError, Fields } from '../base/fields.ts'
import type { Pinned } from '../base/fixture.ts'
import type { Check, Output, Place } from '../base/report.ts'

/** Golden arrays and scalars of one folder. Remembers what was asked for: the rest is unknown. */
export class Expected {
  /** expected.json */
  readonly json: Fields
  #tensors: ReadonlyMap<string, SafeTensor>
  #tolerances: Fields
  #read = new Set<string>()

  constructor(folder: string) {
    const file = join(folder, 'expected.safetensors')
    this.#tensors = readSafetensors(new Uint8Array(readFileSync(file)), file).tensors
    const json: unknown = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))
    this.json = new Fields(json, 'expected.json')
    this.#tolerances = this.json.fields('tolerances')
  }

  has(name: string): boolean {
    return this.#tensors.has(name)
  }

  /** Throws CaseError where there is none of that name. */
  tensor(name: string): SafeTensor {
    const tensor = this.#tensors.get(name)
    if (!tensor) throw new CaseError(`expected.safetensors: there is no ${name}`)
    this.#read.add(name)
    return tensor
  }

  /** Throws CaseError where there are not `length` of them. */
  numbers(name: string, length?: number): Float64Array {
    const { data } = this.tensor(name)
    if (length !== undefined && data.length !== length)
      throw new CaseError(
        `expected.safetensors: ${name}: expected ${length} numbers, got ${data.length}`,
      )
    return Float64Array.from(data)
  }

  ids(name: string): Uint32Array {
    return Uint32Array.from(this.tensor(name).data)
  }

  /** What follows `prefix` in the names that begin with it. */
  under(prefix: string): string[] {
    const names = [...this.#tensors.keys()].filter((name) => name.startsWith(prefix))
    return names.map((name) => name.slice(prefix.length))
  }

  names(pattern: RegExp): string[] {
    return [...this.#tensors.keys()].filter((name) => pattern.test(name))
  }

  /** Leaves arrays out on purpose. */
  skip(pattern: RegExp): void {
    for (const name of this.names(pattern)) this.#read.add(name)
  }

  /** Arrays that nothing has asked for. */
  unread(): string[] {
    return [...this.#tensors.keys()].filter((name) => !this.#read.has(name))
  }

  /** The recommended absolute tolerance of an array; float64 arrays have none but 1e-9. */
  atol(name: string): number {
    if (name.startsWith('f64.')) return 1e-9
    const columns = this.#tolerances.raw(name)
    const atol = Array.isArray(columns) ? columns[3] : undefined
    if (typeof atol !== 'number') throw new CaseError(`expected.json: no tolerance for ${name}`)
    return atol
  }

  /** `actual` beside the array of that name. Only what `mask` (of the shape [outer…, mask…,
   * inner…]) keeps is compared: the goldens hold zeros elsewhere. */
  output(name: string, actual: ArrayLike<number>, mask?: ArrayLike<number>, inner = 1): Output {
    const { shape } = this.tensor(name)
    const expected = this.numbers(name)
    const kept = mask
      ? Float64Array.from({ length: actual.length }, (_, i) =>
          mask[Math.floor(i / inner) % mask.length] ? actual[i] : 0,
        )
      : Float64Array.from(actual)
    return { actual: kept, expected, shape, tolerance: { rtol: 0, atol: this.atol(name) } }
  }
}

/** A model, its golden data, and how it is called. */
export interface ModelCase {
  readonly name: string
  readonly folder: string
  readonly model: HfModel
  readonly shape: ModelShape
  /** By Hugging Face name, in float64. */
  readonly params: RefArrays
  readonly expected: Expected
  /** Blocks under the inner policy: layer_k of the goldens is 0-based. */
  readonly layer: number
  /** Kernels of the linear layers, where they are not the default ones. */
  readonly matmul: MatmulChoice | undefined
}

/** A model directory, with what is pinned of its kernels beside the products. */
export async function readCaseModel(
  folder: string,
  head: Head,
  { narrowKernels }: Pinned,
): Promise<HfModel> {
  const model = await readHfModel(modelDirectory(folder), { head })
  if (narrowKernels === undefined) return model
  const { layout } = model
  return { ...model, layout: { ...layout, shape: { ...layout.shape, narrowKernels } } }
}

/** Reads a folder. Throws ModelFileError or CaseError for what is not as it should be. */
export async function openModelCase(folder: string, pinned: Pinned = {}): Promise<ModelCase> {
  const model = await readCaseModel(folder, 'lm_head', pinned)
  const expected = new Expected(folder)
  return {
    name: basename(resolve(folder)),
    folder,
    model,
    shape: model.layout.shape,
    params: paramsOf(model),
    expected,
    layer: expected.json.number('layer_k') + 1,
    matmul: pinned.matmul,
  }
}

/** A model's weights by Hugging Face name, in float64. */
export const paramsOf = ({ layout, weights }: HfModel): RefArrays =>
  Object.fromEntries(
    Object.entries(unpackWeights(layout, weights)).map(([name, x]) => [name, Float64Array.from(x)]),
  )

/** The critic or reward model of a case; undefined where there is none. */
export async function openHead(
  { folder, shape }: ModelCase,
  name: 'critic' | 'reward',
): Promise<HfModel | undefined> {
  if (!existsSync(join(folder, name))) return undefined
  const head = name === 'critic' ? 'value_head' : 'reward_head'
  return readCaseModel(join(folder, name), head, shape)
}

/** The batches `in.<t>` that hold responses. */
export const batchNames = (expected: Expected): string[] =>
  expected.names(/^in\.[^.]+\.responses$/).map((name) => name.split('.')[1])

/** Rows of a golden batch, e.g. `in.rpad` or, with an index, the i-th of `traj.grpo`. Position ids
 * are checked by the caller: these are the golden ones. */
export function readBatch(
  expected: Pick<Expected, 'tensor'>,
  prefix: string,
  index?: number,
): RolloutBatch {
  const part = (name: string) => {
    const { data, shape } = expected.tensor(`${prefix}.${name}`)
    const [rows, columns] = shape.slice(-2)
    const first = (index ?? 0) * rows * columns
    return { rows, columns, data: data.subarray(first, first + rows * columns) }
  }
  const ids = part('input_ids')
  const responses = part('responses')
  const mask = part('response_mask')
  const R = responses.columns
  const u32 = (name: string) => Uint32Array.from(part(name).data)
  return {
    rows: ids.rows,
    prompt_length: ids.columns - R,
    response_length: R,
    input_ids: Uint32Array.from(ids.data),
    attention_mask: u32('attention_mask'),
    position_ids: u32('position_ids'),
    response_ids: Uint32Array.from(responses.data),
    response_mask: Float32Array.from(mask.data),
    response_lengths: Uint32Array.from({ length: ids.rows }, (_, b) =>
      Float64Array.from(mask.data.subarray(b * R, (b + 1) * R)).reduce((n, m) => n + m, 0),
    ),
    is_ended: Array.from({ length: ids.rows }, () => true),
  }
}

/** Rows [first, first + count) of a batch. */
export function sliceBatch(batch: RolloutBatch, first: number, count: number): RolloutBatch {
  const cut = <T extends Uint32Array | Float32Array>(x: T): T => {
    const columns = x.length / batch.rows
    return x.slice(first * columns, (first + count) * columns) as T
  }
  return {
    ...batch,
    rows: count,
    input_ids: cut(batch.input_ids),
    attention_mask: cut(batch.attention_mask),
    position_ids: cut(batch.position_ids),
    response_ids: cut(batch.response_ids),
    response_mask: cut(batch.response_mask),
    response_lengths: batch.response_lengths.slice(first, first + count),
    is_ended: batch.is_ended.slice(first, first + count),
  }
}

/** Response tokens of a batch. */
export const responseTokens = ({ response_mask }: RolloutBatch): number =>
  response_mask.reduce((a, b) => a + b, 0)

/** What transformer.ref.ts takes for the response tokens of a batch. */
export const refResponse = (batch: RolloutBatch, temperature = 1) => ({
  response_ids: batch.response_ids,
  response_mask: batch.response_mask,
  first_column: batch.prompt_length - 1,
  response_length: batch.response_length,
  temperature,
})

/** Columns of a batch. */
export const widthOf = ({ prompt_length, response_length }: RolloutBatch): number =>
  prompt_length + response_length

/** A check under the name of its case. */
export const check = (
  { name }: ModelCase,
  title: string,
  on: Place,
  outputs: Check['outputs'],
): Check => ({ case: `${name}/${title}`, on, outputs })

/** A scalar of expected.json: float64 code to 1e-9, kernels to float32. */
export const scalar = (actual: unknown, expected: number, on: Place): Output => ({
  actual,
  expected,
  tolerance: on === 'gpu' ? { rtol: 1e-4, atol: 2e-5 } : { rtol: 1e-9, atol: 1e-12 },
})

/** Arrays one after the other. */
export function joined(parts: readonly ArrayLike<number>[]): Float64Array {
  const all = new Float64Array(parts.reduce((n, part) => n + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
