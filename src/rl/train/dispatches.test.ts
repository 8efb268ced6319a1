// Counts the dispatches of a step of the first preset, and the WGSL that a run of it compiles, on a
// GPU and on a software adapter: recorded without a device.
import { expect, test } from 'vitest'
import { wholeText } from '../../kernels/device/base/kernel.ts'
import { collect, type Recorder, suitedToGpu } from '../../kernels/device/base/program.ts'
import { joinCommands } from '../../kernels/device/joined/join_commands.ts'
import { SeparateBuffers } from '../../kernels/device/joined/testing.ts'
import { gpuChoice } from '../../kernels/matmul/gpu_variants.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import { modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import type { Recording } from '../../model/rollout/recording.ts'
import { cacheSize } from '../../model/rollout/rollout_cache.ts'
import { recordPrefill, recordTokens } from '../../model/rollout/rollout_record.ts'
import { createRolloutTensors } from '../../model/rollout/rollout_tensors.ts'
import { createActorTensors } from '../learners/actor_tensors.ts'
import { phaseRows } from '../learners/base/batch_rows.ts'
import { objectiveOf } from '../learners/objective.ts'
import { recordApply } from '../learners/optimizer.ts'
import { recordPass, recordSft, recordUpdate } from '../learners/programs.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { runProducts } from './tuning.ts'

const L = 6
const [P, R] = [6, 4]
const model = {
  ...CONFIG.model,
  hidden_size: 64,
  intermediate_size: 168,
  num_hidden_layers: L,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  head_dim: 16,
}
const rl = {
  ...RL,
  rollout: { ...RL.rollout, train_batch_size: 32, n: 8, max_response_length: R },
  actor: { ...RL.actor, ppo_mini_batch_size: 16 },
}
const shape = modelShape(model)
const sft = { ...SFT, batch_size: 256 }
const task = { ...CONFIG.task, max_prompt_length: P, max_response_length: R }
const config = { ...CONFIG, task, model, phases: [sft, rl] }
const choice = gpuChoice(runProducts(config), { is_software: false, features: [] })

/** Dispatches of each program of a step, with independent ones joined or not. */
function programs(matmul: MatmulChoice, joins: boolean) {
  const plan = new SeparateBuffers()
  const { batch, micro } = phaseRows(rl, P + R, shape)
  const t = createActorTensors(plan, paramLayout(shape), {
    prompt_length: P,
    response_length: R,
    batchRows: batch,
    microRows: 256,
    updates: 2,
    probeRows: 8,
    hasReference: false,
    kernels: { matmul },
  })
  const size = { rows: batch, n: 8, prompt_length: P, response_length: R }
  const rollout = {
    gpu: plan,
    model: t.model,
    cache: cacheSize(size),
    R,
    tensors: createRolloutTensors(plan, shape, size),
    special: { eos_token_ids: [1], pad_token_id: 0 },
    normsInside: joins,
    wholeTokens: joins,
  }
  const shaders = new Map<string, number>()
  const count = <L extends string>(build: (r: Recorder<L>) => void) => {
    const recorded = collect('count', build)
    const commands = joins ? joinCommands(suitedToGpu(recorded)) : recorded
    const dispatches = commands.filter((command) => command.kind === 'dispatch')
    for (const { kernel } of dispatches) shaders.set(kernel.name, wholeText(kernel).length)
    return dispatches.length
  }
  const counts = {
    rollout: count((recorder: Recording['recorder']) => {
      recordPrefill({ ...rollout, recorder })
      recordTokens({ ...rollout, recorder }, 0, R)
    }),
    pass: count((r) => recordPass(r, t, t.workspace, { layer: L })),
    update: count((r) => recordUpdate(r, t, t.workspace, { layer: L }, objectiveOf(rl))),
    apply: count((r) => recordApply(plan, r, t, L, { lr_factors: undefined })),
    sft: count((r) => recordSft(r, t, t.workspace, L)),
    minis: batch / micro,
  }
  const kilobytes = Math.round([...shaders.values()].reduce((a, b) => a + b) / 1000)
  return { ...counts, shaders: shaders.size, kilobytes }
}

/** Rollout and the sum of its entropies; for each mini-batch a pass, an update and a step of the
 * optimizer. The first pass goes over all rows and reads the old log-probs of all mini-batches. */
const reinforcement = ({ rollout, pass, update, apply, minis }: ReturnType<typeof programs>) =>
  rollout + 1 + minis * (pass + update + apply)

test('steps on a GPU: what is independent runs together', () => {
  const counts = programs(choice, true)
  const { shaders, kilobytes, ...dispatches } = counts
  expect(dispatches).toEqual({ rollout: 60, pass: 51, update: 55, apply: 4, sft: 104, minis: 2 })
  expect(shaders).toBe(33)
  expect(kilobytes).toBeLessThan(182)
  expect(reinforcement(counts)).toBe(281)
  expect(counts.sft + counts.apply).toBe(108)
})

test('steps on a software adapter, which gains nothing by that', () => {
  const counts = programs({}, false)
  const { shaders, kilobytes, ...dispatches } = counts
  expect(dispatches).toEqual({ rollout: 197, pass: 51, update: 119, apply: 4, sft: 168, minis: 2 })
  expect(shaders).toBe(35)
  expect(kilobytes).toBeLessThan(165)
  expect(reinforcement(counts)).toBe(546)
  expect(counts.sft + counts.apply).toBe(172)
})
