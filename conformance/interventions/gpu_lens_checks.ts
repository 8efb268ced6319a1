// Checks tuned and Jacobian lenses on the kernels: their policies, gradients and fits, and what a
// policy that is read through them trains.
import type { Tensor } from '../../src/kernels/device/base/tensor.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { headSplits } from '../../src/kernels/vocab_head/vocab_head.ts'
import { unpackWeights } from '../../src/model/layout/params.ts'
import type { Readout } from '../../src/model/layout/readout.ts'
import { type Lens, lensSize, translatorValues } from '../../src/model/layout/translators.ts'
import { JacobianFit, jacobianContexts } from '../../src/model/lenses/jacobian_fit.ts'
import { uploadedLens } from '../../src/model/lenses/lens.ts'
import type { LensRows } from '../../src/model/lenses/lens_rows.ts'
import { createCompared, LayerReader } from '../../src/model/lenses/read_layers.ts'
import { TunedFit } from '../../src/model/lenses/tuned_fit.ts'
import { createParamBuffers } from '../../src/model/params/param_buffers.ts'
import { paramGradients } from '../../src/model/params/param_tensors.ts'
import { backward } from '../../src/model/transformer/backward.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { readPolicy } from '../../src/model/transformer/policy.ts'
import { uploadRows } from '../../src/model/transformer/rows.ts'
import { forward } from '../../src/model/transformer/transformer.ts'
import type { RefTranslator } from '../../src/model/transformer/translate.ref.ts'
import { createWorkspace } from '../../src/model/transformer/workspace.ts'
import type { Check } from '../base/report.ts'
import { uploadCase } from '../hf/gpu_model.ts'
import { check } from '../hf/model_case.ts'
import { type InterventionCase, lossOutput, outputsOf, upTo } from './intervention_case.ts'
import { jacobianTranslators, tunedOptimizer, tunedTranslators } from './lens_checks.ts'
import { gradientOutputs } from './reading_checks.ts'
import { goldenPpo } from './reading_loss.ts'

const NONE = { lr: 0, betas: [0.9, 0.999], eps: 1e-8, weight_decay: 0 } as const

/** Translators as a lens holds them. */
function lensOf(
  { shape }: InterventionCase,
  readout: Lens['readout'],
  translators: readonly RefTranslator[],
): Lens {
  const { hidden_size: C } = shape
  const lens = { readout, hidden_size: C, values: new Float32Array(lensSize(shape)) }
  translators.forEach(({ matrix, bias }, l) => {
    const own = translatorValues(lens, l)
    own.residual.set(matrix.map((x, i) => (i % (C + 1) === 0 ? x - 1 : x)))
    if (bias) own.bias.set(bias)
  })
  return lens
}

/** Flat values of a lens, matrix by matrix and bias by bias. */
function partsOf({ shape }: InterventionCase, values: Float32Array, added: number) {
  const { hidden_size: C, num_hidden_layers: L } = shape
  const all = upTo(L).map((l) => translatorValues({ hidden_size: C, values }, l))
  const matrix = (x: Float32Array) =>
    Float64Array.from(x, (w, i) => w + (i % (C + 1) === 0 ? added : 0))
  return {
    A: all.flatMap(({ residual }) => [...matrix(residual)]),
    b: all.flatMap(({ bias }) => [...bias]),
  }
}

/** Section 6 on the kernels. */
export async function* gpuLensChecks(c: InterventionCase, gpu: Gpu): AsyncGenerator<Check> {
  const model = uploadCase(c, gpu)
  const rows: LensRows = {
    ...c.batch,
    width: c.rows.width,
    input_ids: Uint32Array.from(c.rows.input_ids),
    attention_mask: Uint32Array.from(c.rows.attention_mask),
    position_ids: Uint32Array.from(c.rows.position_ids),
  }
  const compared = createCompared(gpu, c.shape, rows)
  const layers = upTo(c.shape.num_hidden_layers)
  const reads = layers.map((layer) => ({ layer, readout: 'tuned' as const }))
  const reader = async (lens: TunedFit) => {
    const lenses = { tuned: lens.lens.layers }
    return LayerReader.create(gpu, { ...model, lenses }, compared, reads)
  }
  const kls = async (of: LayerReader) => (await of.measure([rows])).map(({ kl }) => kl)

  const given = await TunedFit.create(gpu, model, compared, NONE)
  gpu.write(given.lens.flat, lensOf(c, 'tuned', tunedTranslators(c)).values)
  const klMean = await kls(await reader(given))
  given.load(rows)
  given.step(0)
  const gradients = partsOf(c, (await gpu.read(given.gradients))[0], 0)
  const computed = {
    'tuned.kl_mean': klMean,
    'tuned.grad_A': gradients.A,
    'tuned.grad_b': gradients.b,
  }
  yield check(c, 'tuned.gradients', 'gpu', outputsOf(c, computed))

  const settings = c.settings.fields('tuned_fit')
  // The reference's checks read these.
  settings.ignore('init', 'loss', 'sgd', 'nesterov')
  if (settings.has('adamw')) {
    const optimizer = tunedOptimizer(settings.fields('adamw'))
    const fit = await TunedFit.create(gpu, model, compared, optimizer)
    const of = await reader(fit)
    const kl = [await kls(of)]
    fit.load(rows)
    for (let step = 0; step < settings.number('steps'); step++) {
      fit.step(optimizer.lr)
      kl.push(await kls(of))
    }
    const { A, b } = partsOf(c, (await gpu.read(fit.lens.flat))[0], 1)
    const title = 'tuned.fit.adamw'
    const arrays = { [`${title}.kl`]: kl.flat(), [`${title}.A`]: A, [`${title}.b`]: b }
    yield check(c, title, 'gpu', outputsOf(c, arrays))
  }

  const skipFirst = c.settings.number('jlens_skip_first')
  const variants = {
    J: skipFirst,
    J_skip0: 0,
    J_short_rows_dropped: c.settings.optionalNumber('jlens_skip_short') ?? skipFirst,
  }
  for (const [name, skip] of Object.entries(variants)) {
    const title = `jlens.${name}`
    if (!c.expected.has(title)) continue
    const fit = await JacobianFit.create(gpu, model, rows)
    fit.begin()
    await fit.add(rows, { skip_first: skip, contexts: jacobianContexts(rows, skip) })
    const found = (await fit.read()).flatMap((x) => [...x])
    yield check(c, title, 'gpu', outputsOf(c, { [title]: found }))
  }
}

const READOUTS = { raw: 'raw', norm: 'normed', tuned: 'tuned', jac: 'jacobian' } as const

/** Section 8 on the kernels. */
export async function* gpuReadingChecks(c: InterventionCase, gpu: Gpu): AsyncGenerator<Check> {
  const { batch, shape } = c
  const { layout } = c.model
  const { rows, response_length } = batch
  const lenses = {
    tuned: uploadedLens(gpu, shape, lensOf(c, 'tuned', tunedTranslators(c))),
    jacobian: uploadedLens(gpu, shape, lensOf(c, 'jacobian', jacobianTranslators(c))),
  }
  const model = { ...uploadCase(c, gpu), lenses }
  const size = { rows, width: c.rows.width, response_length, trains: true, hasLens: true }
  const parts = headSplits(rows * response_length, shape)
  const ws = createWorkspace(gpu, shape, { ...size, headSplits: parts })
  uploadRows(gpu, ws, batch)
  const buffers = createParamBuffers(gpu, layout, 'gradients', 'gradients')
  const grads = paramGradients(gpu, layout, buffers)
  for (const key of c.losses.names().filter((name) => name.startsWith('ppo.'))) {
    const [, name, at] = key.split('.')
    const readout: Readout = READOUTS[name as keyof typeof READOUTS]
    const read = { layer: Number(at.slice(1)), inv_temperature: 1, readout }
    const unnormed = readout === 'raw' && read.layer === shape.num_hidden_layers
    // The lab reads the last layer through the final norm, whatever is asked.
    if (unnormed || !readout) continue
    gpu.replay(
      await gpu.record('read', [], (r) => {
        forward(r, model, ws, { layers: read.layer })
        readPolicy(r, model, ws, read)
      }),
    )
    const logProbs = Float64Array.from((await gpu.read(ws.response.log_probs as Tensor<'f32'>))[0])
    const old = c.expected.numbers(`in.${key}.old`)
    const { loss, d_log_probs } = goldenPpo(c, old, c.expected.numbers('in.adv'))(logProbs)
    gpu.write(ws.response.d_log_probs, Float32Array.from(d_log_probs))
    for (const { tensor } of buffers.stretches) gpu.clear(tensor)
    gpu.replay(await gpu.record('backward', [], (r) => backward(r, model, grads, ws, read)))
    const named = unpackWeights(
      layout,
      (await gpu.read(buffers.stretches[0].tensor as Tensor<'f32'>))[0],
    )
    const found: RefArrays = Object.fromEntries(
      Object.entries(named)
        .filter(([, x]) => x.some((g) => g !== 0))
        .map(([param, x]) => [param, Float64Array.from(x)]),
    )
    const golden = c.losses.fields(key)
    yield check(c, key, 'gpu', {
      loss: lossOutput(loss, golden.number('loss'), golden.number('loss_fp32')),
      ...gradientOutputs(c, key, golden, found),
      [`${key}.logp`]: c.expected.output(`${key}.logp`, logProbs, c.batch.response_mask),
    })
  }
}
