// Times the parts of one reinforcement step of a preset: its stages, its kernels, both passes for
// the policy of every layer, its JavaScript.
import { Gpu } from '../../src/kernels/device/gpu.ts'
import type { ProfileRow } from '../../src/kernels/device/timing/profiler.ts'
import { suited } from '../../src/rl/train/suited.ts'
import { Trainer } from '../../src/rl/train/trainer.ts'
import {
  type SampledJavaScript,
  sampled,
  threadSeconds,
  watchCalls,
  withoutGpu,
} from './javascript.ts'
import { median } from './median.ts'
import { progress } from './progress.ts'
import { finished, listenToActor, rlConfig, scoreAgain, updateAgain } from './rl.ts'

const WARM_UP = 2
/** Samples of everything that waits for the GPU. */
const SAMPLES = { gpu: 10, software: 3 }
/** Steps without the GPU: first some for the engine to compile hot code, then the measured ones. */
const FREE_WARM_UP = 20
const FREE_STEPS = 40

export interface PartsRow {
  readonly preset: string
  readonly samples: number
  /** Median milliseconds of the stages and of a whole step, each awaited. */
  readonly ms: Readonly<Record<'rollout' | 'log_prob' | 'update' | 'step', number>>
  /** Both passes for the policies of layers 1 … L: median milliseconds. */
  readonly layers: readonly { readonly layer: number; log_prob: number; update: number }[]
  /** Of one step by the GPU's clock, the slowest first; absent where the adapter has none, and in
   * files of an older bench. */
  readonly kernels?: readonly ProfileRow[]
  readonly javascript: JavaScriptRow
}

/** Milliseconds of one step on the page's thread. */
export interface JavaScriptRow {
  readonly steps: number
  /** Inside calls of Gpu: encoding, uploads, submits. Median over steps whose command buffers are
   * thrown away. */
  readonly encode_ms: number
  /** Wall time of such a step: everything except the GPU's work, including waits for other
   * processes. */
  readonly step_without_gpu_ms: number
  /** CPU time of the thread over such a step, all its JavaScript and the browser's bindings; absent
   * without the driver. */
  readonly thread_ms?: number
  /** Of such a step, by sampling; absent without the driver. */
  readonly sampled_ms?: SampledJavaScript
  readonly dispatches: number
}

async function javascriptOf(gpu: Gpu, trainer: Trainer): Promise<JavaScriptRow> {
  return withoutGpu(gpu, async () => {
    for (let i = 0; i < FREE_WARM_UP; i++) await trainer.next()
    const { dispatches } = gpu.counts
    const before = await threadSeconds()
    for (let i = 0; i < FREE_STEPS; i++) await trainer.next()
    const after = await threadSeconds()
    const found = await sampled(async () => {
      for (let i = 0; i < FREE_STEPS; i++) await trainer.next()
    })
    const perStep = (gpu.counts.dispatches - dispatches) / (2 * FREE_STEPS)
    // The stopwatch itself costs time, so it starts after the thread's own time was taken.
    const watch = watchCalls(gpu)
    const encodeMs: number[] = []
    const stepMs: number[] = []
    for (let i = 0; i < FREE_STEPS; i++) {
      watch.ms = 0
      const start = performance.now()
      await trainer.next()
      stepMs.push(performance.now() - start)
      encodeMs.push(watch.ms)
    }
    return {
      steps: FREE_STEPS,
      encode_ms: median(encodeMs),
      step_without_gpu_ms: median(stepMs),
      ...(before !== undefined &&
        after !== undefined && { thread_ms: ((after - before) * 1000) / FREE_STEPS }),
      ...(found && {
        sampled_ms: { script: found.script / FREE_STEPS, garbage: found.garbage / FREE_STEPS },
      }),
      dispatches: perStep,
    }
  })
}

/** The last rl phase of a preset from new weights, prepared for the policy of every layer. */
export async function benchParts(presetId: string): Promise<PartsRow> {
  const { config, phase } = rlConfig(presetId)
  const L = config.model.num_hidden_layers
  const all = Array.from({ length: L }, (_, i) => i + 1)
  // The first phase does not end; the phases after it only have their programs recorded.
  const inner = all.filter((k) => k !== phase.target_layer)
  const endless = { ...phase, steps: 1e6 }
  const phases = [endless, ...inner.map((target_layer) => ({ ...phase, target_layer }))]
  const gpu = await Gpu.open()
  const samples = SAMPLES[gpu.facts.is_software ? 'software' : 'gpu']
  const heard = listenToActor()
  const trainer = await Trainer.create(gpu, suited(gpu, { ...config, phases }))
  for (let i = 0; i < WARM_UP; i++) await trainer.next()
  await gpu.finish()
  progress('whole steps')
  const step: number[] = []
  const rollout: number[] = []
  for (let i = 0; i < samples; i++) {
    const start = performance.now()
    const { metrics } = await trainer.next()
    step.push(performance.now() - start)
    rollout.push(metrics['timing_s/gen'] * 1000)
  }
  const passes = all.map((layer) => ({ layer, log_prob: [] as number[], update: [] as number[] }))
  progress(`both passes of layers 1 to ${L}`)
  for (let i = 0; i < samples; i++)
    for (const { layer, log_prob, update } of passes) {
      log_prob.push(await finished(gpu, () => scoreAgain(heard(), layer)))
      update.push(await finished(gpu, () => updateAgain(heard(), layer)))
    }
  const layers = passes.map(({ layer, log_prob, update }) => ({
    layer,
    log_prob: median(log_prob),
    update: median(update),
  }))
  const { log_prob, update } = layers[phase.target_layer - 1]
  const ms = { rollout: median(rollout), log_prob, update, step: median(step) }
  progress('kernels')
  const { profile } = await gpu.profile(() => trainer.next())
  const kernels = profile.source === 'timestamps' ? { kernels: profile.kernels } : {}
  progress('JavaScript')
  const javascript = await javascriptOf(gpu, trainer)
  trainer.destroy()
  return { preset: presetId, samples, ms, layers, ...kernels, javascript }
}
