// A reward model, and a policy, that are trained on the pairs of a file. Here, because lab may not
// load the GPU side.
import { expect, test } from 'vitest'
import { onDataSet } from '../../../document/experiment/on_data_set.ts'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { SteeredRun } from '../../../host/worker/base/steered_run.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { steeredEngine } from '../../../rl/train/engine.ts'
import { choiceOf, loadDataFiles, prepareFiles } from '../../../tasks/data/load_data.ts'
import { USUAL_PLAN } from '../../../tasks/data/plan.ts'
import { readRows } from '../../../tasks/data/readers/readers.ts'
import { proposeMapping } from '../../../tasks/data/rows/propose.ts'
import { numbers, run } from './testing.ts'

/** The better answer is the digit itself, the worse one is zero. */
const ROWS = Array.from({ length: 20 }, (_, i) => ({
  prompt: `${i + 11}=`,
  chosen: `${i + 11}`,
  rejected: '0',
}))

/** Single answers: of even prompts the right one, which is good, of others zero, which is bad. */
const VERDICTS = ROWS.map(({ prompt, chosen, rejected }, i) => ({
  prompt,
  completion: i % 2 === 0 ? chosen : rejected,
  label: i % 2 === 0,
}))

type Kind = 'reward_model' | 'preference' | 'kto'

async function document(of: Kind = 'reward_model') {
  const kind = of === 'kto' ? 'preference' : of
  const bytes = new TextEncoder().encode(JSON.stringify(of === 'kto' ? VERDICTS : ROWS))
  const file = { name: 'pairs.json', bytes }
  const plan = { ...USUAL_PLAN, ...proposeMapping((await readRows(file)).table) }
  const names = {
    data: `sha256-${'7'.repeat(64)}`,
    name: file.name,
    val_data: null,
    val_name: null,
  }
  const choice = choiceOf(names, plan, await prepareFiles(file, undefined, plan))
  await loadDataFiles(choice, file, undefined)
  const pairs = { source: 'file', count: 256, held_out: 64 }
  const phases = [
    { kind: 'sft', steps: 1, batch_size: 4 },
    {
      kind,
      ...(of === 'kto' && { preference: { loss_type: 'kto', beta: 0.5 } }),
      steps: 8,
      batch_size: 8,
      pairs,
      optim: { lr: 0.01, lr_warmup_steps: 0 },
    },
    { kind: 'rl', steps: 1, reward_model: { enable: kind === 'reward_model' } },
  ]
  return tinyExperiment({ ...onDataSet({ phases }, choice).fields })
}

test('it learns the pairs of the rows, those of held-out prompts apart', async () => {
  const { results } = await run(await document())
  const taught = results.filter(({ metrics }) => 'reward_model/loss' in metrics)
  expect(taught).toHaveLength(8)
  expect(taught[0].metrics).toMatchObject({
    'reward_model/pairs': 16,
    'reward_model/held_out_pairs': 4,
    'reward_model/ties': 0,
  })
  const [first, last] = [taught[0], taught[7]].map(({ metrics }) => metrics['reward_model/loss'])
  expect(last).toBeLessThan(first)
  expect(taught[7].metrics['reward_model/accuracy']).toBe(1)
  const held = new Set(ROWS.map(({ prompt }) => prompt))
  for (const { prompt, rejected } of taught[7].scored_pairs ?? [])
    expect([held.has(prompt), rejected]).toEqual([true, '0'])
})

test('a policy learns them without a reward model', async () => {
  const { results } = await run(await document('preference'))
  const taught = results.filter(({ metrics }) => 'preference/loss' in metrics)
  expect(taught).toHaveLength(8)
  expect(taught[0].metrics).toMatchObject({
    'preference/pairs': 16,
    'preference/held_out_pairs': 4,
    'preference/ties': 0,
    // Policy and reference are the same at first.
    'preference/loss': expect.closeTo(Math.log(2), 6),
    'rewards/margins': 0,
  })
  const { metrics, scored_pairs = [] } = taught[7]
  expect(metrics['preference/loss']).toBeLessThan(Math.log(2))
  expect(metrics['eval_rewards/accuracies']).toBe(1)
  expect(scored_pairs).toHaveLength(4)
  for (const { chosen_score, rejected_score, rejected } of scored_pairs)
    expect([chosen_score > rejected_score, rejected]).toEqual([true, '0'])
})

test('KTO learns single answers that have no partner', async () => {
  const experiment = await document('kto')
  const { results } = await run(experiment)
  const taught = results.filter(({ metrics }) => 'preference/loss' in metrics)
  expect(taught).toHaveLength(8)
  const [first, last] = [taught[0].metrics, taught[7].metrics]
  expect(first).toMatchObject({
    'preference/desirable': 8,
    'preference/undesirable': 8,
    'preference/held_out_answers': 4,
    // Policy and reference are the same at first: w (1 − σ(0)).
    'preference/loss': expect.closeTo(0.5, 6),
    'preference/kl': 0,
    'rewards/margins': 0,
  })
  expect('preference/pairs' in first).toBe(false)
  expect(last['preference/loss']).toBeLessThan(0.45)
  expect(last['logps/chosen'] - last['logps/rejected']).toBeGreaterThan(
    first['logps/chosen'] - first['logps/rejected'],
  )
  expect(last['eval_rewards/margins']).toBeGreaterThan(0)
  // All rows of a step: eight pairs' worth.
  const short = { ...experiment.phases[1], pairs: { source: 'file', count: 1, held_out: 0 } }
  const few = tinyExperiment({ ...experiment, phases: [experiment.phases[0], short] })
  // Refused before the warm start.
  const gpu = await Gpu.open()
  const { live_bytes } = gpu.counts
  await expect(SteeredRun.begin(steeredEngine(gpu, undefined), few)).rejects.toThrow(
    /expected good and bad answers for the loss kto, found 1 (good|bad) ones alone among the first 1/,
  )
  expect(gpu.counts.live_bytes).toBe(live_bytes)
  gpu.destroy()
})

test.for(['reward_model', 'preference', 'kto'] as const)(
  'a run that is continued between the pairs of its %s phase, or repeated from its link, has the same bits',
  async (kind) => {
    const experiment = await document(kind)
    const whole = await run(decodeLink(encodeLink(experiment)).experiment)
    const gpu = await Gpu.open()
    const engine = steeredEngine(gpu, undefined)
    const first = await SteeredRun.begin(engine, experiment)
    for (let step = 0; step < 5; step++) {
      await first.obey()
      await (await first.queue()).result
    }
    const rest = await SteeredRun.resume(engine, await first.exportState())
    const results = []
    for (;;) {
      await rest.obey()
      if (rest.isFinished) break
      results.push(numbers(await (await rest.queue()).result))
    }
    const { actor } = await rest.trainer.exportState()
    gpu.destroy()
    expect(results).toEqual(whole.results.slice(5))
    expect(actor.weights).toEqual(whole.weights)
  },
)
