// Reads one case of interventions and readings: what hooks on a Hugging Face model changed and
// read, beside the model's own case.
import { basename, join, resolve } from 'node:path'
import type { RefEdit } from '../../src/model/interventions/edits.ref.ts'
import type { RefBatch } from '../../src/model/transformer/operations.ref.ts'
import { forwardRef, type RefCache } from '../../src/model/transformer/transformer.ref.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { CaseError, type Fields } from '../base/fields.ts'
import type { Pinned } from '../base/fixture.ts'
import type { Output, Place } from '../base/report.ts'
import { Expected, type ModelCase, openModelCase, readBatch, widthOf } from '../hf/model_case.ts'

export interface InterventionCase extends ModelCase {
  /** The arrays of the model's own case: batches and their columns. */
  readonly hf: Expected
  /** expected.json: settings. */
  readonly settings: Fields
  readonly losses: Fields
  /** The batch of all sections but patching, and its name. */
  readonly main: string
  readonly batch: RolloutBatch
  /** The same for the float64 reference, and its untouched pass. */
  readonly rows: RefBatch
  readonly untouched: RefCache
}

/** What a pass with changes leaves: the residual stream after 0 … L blocks, [M, C] each. */
export type States = readonly Float64Array[]

/** Where passes are computed. */
export interface Runner {
  readonly on: Place
  run(rows: RefBatch, edits: readonly RefEdit[]): Promise<States>
}

/** Reads a folder. Throws ModelFileError or CaseError for what is not as it should be. */
export async function openInterventionCase(
  folder: string,
  pinned: Pinned = {},
): Promise<InterventionCase> {
  const expected = new Expected(folder)
  const { json } = expected
  const where = json.optionalText('weights_and_batches')
  if (where === undefined)
    throw new CaseError('expected.json.weights_and_batches: expected the folder of the model case')
  const { expected: hf, ...model } = await openModelCase(join(folder, where), pinned)
  json.ignore('case', 'checks', 'made_with', 'tolerances_columns', 'tolerances')
  const settings = json.fields('settings')
  // Sizes follow from the arrays, the layers from the names of the losses, and the patched rows are
  // given.
  settings.ignore('dims', 'ppo_layers', 'patch_batch')
  const main = settings.optionalText('main_batch') ?? ''
  const batch = readBatch(hf, `in.${main}`)
  const rows = { ...batch, width: widthOf(batch) }
  return {
    ...model,
    name: `interventions/${basename(resolve(folder))}`,
    folder,
    expected,
    hf,
    settings,
    losses: json.fields('losses'),
    main,
    batch,
    rows,
    untouched: forwardRef(model.model.config, model.params, rows),
  }
}

/** Passes in float64. */
export function referenceRunner(c: InterventionCase): Runner {
  const known = new Map<RefBatch, RefCache>([[c.rows, c.untouched]])
  return {
    on: 'reference',
    run: async (rows, edits) => {
      const { config } = c.model
      const untouched = known.get(rows) ?? forwardRef(config, c.params, rows)
      known.set(rows, untouched)
      if (edits.length === 0) return untouched.hidden_states
      return forwardRef(config, c.params, rows, { edits, untouched }).hidden_states
    },
  }
}

/** `values` beside the array of that name, to its tolerance. */
export function output(c: ModelCase, name: string, values: ArrayLike<number>): Output {
  const size = c.expected.tensor(name).data.length
  if (values.length !== size)
    return { actual: `${values.length} numbers`, expected: `${size} numbers`, tolerance: 'exact' }
  return c.expected.output(name, values)
}

/** Those of `computed` that the case has an array for. */
export const outputsOf = (
  c: ModelCase,
  computed: Readonly<Record<string, ArrayLike<number>>>,
): Record<string, Output> =>
  Object.fromEntries(
    Object.entries(computed)
      .filter(([name]) => c.expected.has(name))
      .map(([name, values]) => [name, output(c, name, values)]),
  )

/** A loss in the README's tolerance: 4e-6 of it, or sixteen times float32's own error. */
export function lossOutput(actual: number, expected: number, inFloat32: number): Output {
  const atol = Math.max(4e-6 * Math.max(1, Math.abs(expected)), 16 * Math.abs(expected - inFloat32))
  return { actual, expected, tolerance: { rtol: 0, atol } }
}

/** Numbers from 0 to n − 1. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i)
