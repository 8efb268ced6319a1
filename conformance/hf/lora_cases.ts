// Checks an adapter that PEFT saved beside a model: logits with it on, merged, and the gradients of
// its factors.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { modelDirectory } from '../../src/cli/input/model_dir.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { type PeftAdapter, readAdapter, withAdapter } from '../../src/model/hf/peft_adapter.ts'
import { adapterLayout, packAdapter } from '../../src/model/layout/adapter_layout.ts'
import { type LoraConfig, modelShape } from '../../src/model/layout/config.ts'
import { loraScale } from '../../src/model/layout/lora.ts'
import { paramLayout } from '../../src/model/layout/params.ts'
import { writeParams } from '../../src/model/params/param_copies.ts'
import type { RefAdapter } from '../../src/model/transformer/low_rank.ref.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { logitsRef } from '../../src/model/transformer/policy.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { goldenPhase } from './golden_actor.ts'
import { logitsGpu, uploadCase } from './gpu_model.ts'
import { type Gradients, globalNorm } from './gradients.ts'
import { check, type ModelCase, paramsOf, readBatch, scalar, widthOf } from './model_case.ts'
import { type Loss, policyGradientGpu, policyGradientRef } from './policy_gradients.ts'

/** An adapter as float64 arrays. */
const refAdapter = (
  lora: LoraConfig,
  factors: Readonly<Record<string, ArrayLike<number>>>,
): RefAdapter => ({
  factors: Object.fromEntries(
    Object.entries(factors).map(([name, x]) => [name, Float64Array.from(x)]),
  ),
  scaleOf: () => loraScale(lora),
})

/** All checks of the folder lora/ of a case, where there is one. */
export async function* loraChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const folder = join(c.folder, 'lora')
  if (!existsSync(folder)) return
  const source = modelDirectory(folder)
  const { lora, factors } = await readAdapter(source, c.model.layout)
  const adapter = refAdapter(lora, factors)
  const merged = paramsOf(await withAdapter(c.model, source))
  const settings = c.expected.json.fields('lora')
  const scale = {
    actual: loraScale(lora),
    expected: settings.number('scaling'),
    tolerance: 'exact',
  } as const
  yield check(c, 'lora.config', 'driver', { scaling: scale })
  for (const name of c.expected.names(/^lora\.[^.]+\.logits$/)) {
    const t = name.split('.')[1]
    const batch = readBatch(c.expected, `in.${t}`)
    const output = (params: RefArrays, on: RefAdapter | undefined): Output => {
      const cache = forwardRef(
        c.model.config,
        params,
        { ...batch, width: widthOf(batch) },
        { adapter: on },
      )
      const logits = logitsRef(c.model.config, params, cache.normed)
      return c.expected.output(name, logits, batch.attention_mask, c.shape.vocab_size)
    }
    yield check(c, name, 'reference', { logits: output(c.params, adapter) })
    // Merged weights are rounded to float32, as PEFT's are; that its own logits then move by is in
    // expected.json.
    yield check(c, `${name}.merged`, 'reference', { logits: output(merged, undefined) })
  }
  if (gpu) yield* gpuChecks(c, gpu, { lora, factors })
  for (const t of new Set(c.expected.under('lora.grad.').map((name) => name.split('.')[0])))
    yield loraGradientCheck(
      c,
      t,
      policyGradientRef({ ...c, adapter }, readBatch(c.expected, `in.${t}`), lossOf(c, t)),
      'reference',
    )
}

/** The same by kernels, without forming B A. */
async function* gpuChecks(c: ModelCase, gpu: Gpu, { lora, factors }: PeftAdapter) {
  const layout = paramLayout(modelShape({ ...c.shape, lora }))
  const adapted = { ...c, model: { ...c.model, layout } }
  const flat = packAdapter(adapterLayout(layout.shape, lora), factors)
  for (const name of c.expected.names(/^lora\.[^.]+\.logits$/)) {
    const batch = readBatch(c.expected, `in.${name.split('.')[1]}`)
    const model = uploadCase(adapted, gpu)
    if (model.adapter) writeParams(gpu, model.adapter.buffers, flat)
    const logits = await logitsGpu(gpu, model, batch)
    const output = c.expected.output(name, logits, batch.attention_mask, c.shape.vocab_size)
    yield check(c, name, 'gpu', { logits: output })
  }
  for (const t of new Set(c.expected.under('lora.grad.').map((name) => name.split('.')[0]))) {
    const batch = readBatch(c.expected, `in.${t}`)
    const computed = await policyGradientGpu(adapted, gpu, batch, lossOf(c, t), flat)
    yield loraGradientCheck(c, t, computed, 'gpu')
  }
}

/** PPO on the final policy, with the batch's own arrays. */
function lossOf({ expected, shape }: ModelCase, t: string): Loss {
  const ppo = expected.json.fields('ppo')
  const { rows } = readBatch(expected, `in.${t}`)
  const clip = {
    clip_ratio_low: ppo.number('clip_ratio_low'),
    clip_ratio_high: ppo.number('clip_ratio_high'),
    clip_ratio_c: ppo.number('clip_ratio_c'),
  }
  return {
    phase: goldenPhase(shape.num_hidden_layers, { batch: rows, mini: rows }, clip),
    columns: {
      old_log_probs: expected.numbers(`in.${t}.old_log_probs_lora`),
      advantages: expected.numbers(`in.${t}.advantages_lora`),
    },
  }
}

function loraGradientCheck(
  c: ModelCase,
  t: string,
  { loss, grads, metrics }: Gradients,
  on: Place,
): Check {
  const title = `lora.grad.${t}`
  const golden = c.expected.json.fields('losses').fields(title)
  const known = golden.fields('metrics')
  const outputs: Record<string, Output> = {
    loss: scalar(loss, golden.number('loss'), on),
    grad_norm: scalar(globalNorm(grads), golden.number('grad_norm'), on),
  }
  for (const name of known.names())
    outputs[`metrics.${name}`] = scalar(
      metrics[name] ?? metrics[`actor/${name}`],
      known.number(name),
      on,
    )
  const names = c.expected.under(`${title}.`)
  for (const name of names) outputs[name] = c.expected.output(`${title}.${name}`, grads[name] ?? [])
  // The base is frozen: it has no gradients.
  const others = Object.keys(grads).filter((name) => !names.includes(name))
  outputs.others = { actual: others, expected: [], tolerance: 'exact' }
  return check(c, title, on, outputs)
}
