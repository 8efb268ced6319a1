// A batch whose activations fit into the workspace has its old log-probs read in one pass over all
// its rows: the bits of a pass for each mini-batch.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { randomValues } from '../../kernels/testing.ts'
import { TINY, testWeights } from '../../model/testing.ts'
import type { RlPhase } from '../config/phase.ts'
import { madeUpBatch, RL } from '../testing.ts'
import { Actor } from './actor.ts'
import { phaseRows } from './base/batch_rows.ts'

const gpu = await Gpu.open()
const [P, R, ROWS] = [3, 4, 8]
const { layout, flat } = testWeights(TINY, 21)

const phase = (target_layer: number): RlPhase => ({
  ...RL,
  target_layer,
  rollout: { ...RL.rollout, train_batch_size: 4, n: 2, max_response_length: R },
  actor: { ...RL.actor, ppo_mini_batch_size: 1, ppo_epochs: 2 },
})

/** Two steps of four mini-batches and two epochs, the first mini-batch of the second step without a
 * token; with room for `microRows` rows at once. */
async function train(target_layer: number, microRows: number) {
  const rl = phase(target_layer)
  const rows = phaseRows(rl, P + R, TINY)
  const size = {
    prompt_length: P,
    response_length: R,
    batchRows: ROWS,
    microRows,
    updates: 8,
    probeRows: 2,
    hasReference: false,
  }
  const actor = await Actor.create(gpu, layout, size, [rl], { weights: flat })
  const old: Float32Array[] = []
  const { dispatches } = gpu.counts
  for (let step = 0; step < 2; step++) {
    const lengths = Array.from({ length: ROWS }, (_, i) => ({
      prompt: 1 + (i % P),
      response: 1 + ((i + step) % R),
    }))
    const batch = madeUpBatch(lengths, { P, R, seed: 100 + step })
    if (step === 1) batch.response_mask.fill(0, 0, rows.mini * R)
    const values = randomValues(ROWS, step)
    const advantages = batch.response_mask.map((m, i) => m * values[Math.floor(i / R)])
    actor.beginStep()
    actor.upload(batch, rows, { advantages })
    actor.computeLogProbs(rl, rows, rows.mini)
    actor.updatePolicy(batch, rl, rows, { lr: 3e-3, step })
    const [logProbs] = await gpu.read(actor.tensors.batch.old_log_probs)
    old.push(logProbs.map((value, i) => (batch.response_mask[i] ? value : 0)))
  }
  const started = gpu.counts.dispatches - dispatches
  return { weights: await actor.exportWeights(), old, started }
}

test.for([TINY.num_hidden_layers, 2])(
  'all mini-batches’ old log-probs come from one pass, to the bit: the policy of layer %i',
  async (layer) => {
    const apart = await train(layer, 2)
    const whole = await train(layer, ROWS)
    expect(whole.old).toEqual(apart.old)
    expect(whole.weights).toEqual(apart.weights)
    expect(Math.max(...whole.old[0].map(Math.abs))).toBeGreaterThan(0.1)
    expect(whole.started).toBeLessThan(apart.started)
  },
)
