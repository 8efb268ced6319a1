// Checks objectives on several layers at once, and inner layers taught by the final one: Hugging
// Face models with autograd, in float64.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readJson } from '../../src/cli/input/input_file.ts'
import { readSafetensors } from '../../src/formats/safetensors.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { CaseError, Fields } from '../base/fields.ts'
import type { Context } from '../base/fixture.ts'
import type { Check, Output } from '../base/report.ts'
import { globalNorm } from '../hf/gradients.ts'
import { Expected, paramsOf, readBatch, readCaseModel } from '../hf/model_case.ts'
import { type DepthModel, depthGradients, readObjective } from './depth_objective.ts'

const FILE = 'deep_supervision.json'
/** Loss and terms; gradients relative to the norm of all of them. */
const EXACT = 1e-9
/** Gradients of whole parameters are kept in float32. */
const ROUNDED = 1e-6

/** Whether a folder holds such cases. */
export const isDepthFolder = (folder: string): boolean => existsSync(join(folder, FILE))
export const isDepthFile = (file: string): boolean => basename(file) === FILE

/** The checks of a file, whose models lie in ../hf. All of it is float64. */
export async function* depthCases(
  folder: string,
  { gpu: _, ...pinned }: Context,
): AsyncGenerator<Check> {
  const json = new Fields(readJson(join(folder, FILE)), FILE)
  const delta = json.fields('delta')
  const gradients = wholeGradients(folder)
  const models = new Map<string, Promise<DepthModel>>()
  const open = (name: string) => {
    const known = models.get(name) ?? openModel(folder, name, pinned)
    models.set(name, known)
    return known
  }
  for (const one of json.list('cases')) {
    const name = `${one.raw('name')}`
    const model = await open(`${one.raw('model')}`)
    const tag = `${one.raw('batch')}`
    const batch = readBatch(model.inputs, `in.${tag}`)
    const objective = readObjective(one.fields('config'), model)
    const unread = one.unused().filter((field) => !/\.expected(\.|$)/.test(field))
    if (unread.length > 0)
      throw new CaseError(`${name}: ${unread.join(', ')} mean nothing to the lab`)
    const found = depthGradients(model, batch, objective, {
      advantages: model.inputs.numbers(`in.${tag}.advantages`, batch.response_mask.length),
      delta: deltaOf(delta, `${one.raw('model')}.${tag}`, batch),
    })
    const outputs = outputsOf(one.fields('expected'), found, model)
    for (const [title, expected] of gradients) {
      if (!title.startsWith(`${name}.`)) continue
      const actual = found.grads[title.slice(name.length + 1)] ?? []
      outputs[title] = { actual, expected, tolerance: within(ROUNDED, globalNorm(found.grads)) }
    }
    yield { case: `deep_supervision/${name}`, on: 'reference', outputs }
  }
}

const within = (share: number, size: number) => ({ rtol: 0, atol: share * size })

/** A model with its batches; those of a file of its own come first. */
async function openModel(
  folder: string,
  name: string,
  pinned: Omit<Context, 'gpu'>,
): Promise<DepthModel> {
  const beside = join(dirname(folder), 'hf', name)
  const own = join(folder, name)
  const model = await readCaseModel(beside, 'lm_head', pinned)
  const inputs = new Expected(existsSync(own) ? own : beside)
  return { config: model.config, params: paramsOf(model), layout: model.layout, inputs }
}

function deltaOf(delta: Fields, name: string, batch: RolloutBatch): Float64Array {
  return delta.matrix(name, { rows: batch.rows, columns: batch.response_length }).data
}

/** Arrays `<case>.<parameter>`, where they lie beside the cases. */
function wholeGradients(folder: string): Map<string, Float64Array> {
  const file = join(folder, 'gradients.safetensors')
  if (!existsSync(file)) return new Map()
  const { tensors } = readSafetensors(new Uint8Array(readFileSync(file)), file)
  return new Map([...tensors].map(([name, { data }]) => [name, Float64Array.from(data)]))
}

/** Σ_i g_i cos(0.7 i + 0.3) */
const probeOf = (grad: ArrayLike<number>): number => {
  let sum = 0
  for (let i = 0; i < grad.length; i++) sum += grad[i] * Math.cos(0.7 * i + 0.3)
  return sum
}

function outputsOf(
  expected: Fields,
  { loss, terms, grads }: ReturnType<typeof depthGradients>,
  { layout }: DepthModel,
): Record<string, Output> {
  const norm = expected.number('grad_norm')
  const each = (of: (grad: ArrayLike<number>) => number) =>
    Object.fromEntries(Object.entries(grads).map(([name, grad]) => [name, of(grad)]))
  const without = layout.params.map(({ name }) => name).filter((name) => !(name in grads))
  const exact = { rtol: EXACT, atol: EXACT }
  const values: Readonly<Record<string, readonly [unknown, Output['tolerance']]>> = {
    loss: [loss, exact],
    terms: [terms, exact],
    grad_norm: [globalNorm(grads), exact],
    grad_norms: [each((grad) => globalNorm({ grad })), within(EXACT, norm)],
    grad_probes: [each(probeOf), within(EXACT, norm)],
    params_without_grad: [without.sort(), 'exact'],
  }
  const known = new Set(Object.keys(values))
  const unknown = expected.names().filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw new CaseError(`${expected.where}: nothing computes ${unknown.join(', ')}`)
  return Object.fromEntries(
    Object.entries(values).map(([name, [actual, tolerance]]) => {
      const raw = expected.raw(name)
      const told = Array.isArray(raw) ? [...raw].sort() : raw
      return [name, { actual, expected: told, tolerance }]
    }),
  )
}
