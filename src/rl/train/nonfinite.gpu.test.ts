// Updates that are left out because a number was not finite, and a device that goes away.
import { expect, test } from 'vitest'
import { onOwnDevice } from '../../kernels/device/testing.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { open } from './testing.ts'
import { Trainer } from './trainer.ts'

test('updates with a non-finite gradient are counted over the run, and the weights stay', async () => {
  const trainer = await Trainer.create(await open(), CONFIG)
  const broken = (await trainer.exportWeights()).slice()
  broken[trainer.layout.slices.norm.offset] = Number.NaN
  trainer.importWeights(broken)
  await trainer.next()
  const counts: number[][] = []
  for (let i = 0; i < 5; i++) {
    const { metrics } = await trainer.next()
    counts.push([metrics['training/skipped_updates'], metrics['training/skipped_updates_total']])
  }
  // Three supervised steps of one update, then steps of two.
  expect(counts).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 5],
    [2, 7],
  ])
  expect(await trainer.exportWeights()).toEqual(broken)
  trainer.destroy()
})

test('an update that is left out says which parameter and which token broke it', async () => {
  const untied = { ...CONFIG, model: { ...CONFIG.model, tie_word_embeddings: false } }
  const trainer = await Trainer.create(await open(), untied)
  const start = await trainer.exportWeights()
  await trainer.next()
  const { layout } = trainer
  const C = CONFIG.model.hidden_size
  const step = async (place: number, value: number) => {
    const weights = start.slice()
    weights[place] = value
    trainer.importWeights(weights)
    return (await trainer.next()).nonFinite
  }
  // Nothing but the embedding of one digit: rows without that digit are sound, and all other
  // gradients of theirs.
  const digit = CONFIG.task.tokenizer.encode('3')[0]
  const ofDigit = await step(layout.slices.embed_tokens.offset + digit * C, Number.NaN)
  expect(ofDigit).toMatchObject({ model: 'actor', update: 0 })
  expect(`${ofDigit?.token?.prompt}${ofDigit?.token?.response}`).toContain('3')
  expect(ofDigit?.token?.row).toBeGreaterThan(0)
  // A weight of a block: every token is broken, and the backward pass from its beginning on.
  const { params } = layout
  const down = params.find(({ name }) => name === 'model.layers.1.mlp.down_proj.weight')
  const ofBlock = await step(down?.offset ?? -1, Number.NaN)
  expect(ofBlock?.token).toMatchObject({ row: 0, position: 0 })
  expect(ofBlock?.parameter).toBe('model.norm.weight')
  expect(await step(down?.offset ?? -1, start[down?.offset ?? -1])).toBeUndefined()
  trainer.destroy()
})

test('a broken token is named by its own row in a batch that is shuffled', async () => {
  const shuffled = { ...RL, actor: { ...RL.actor, shuffle: true, ppo_epochs: 2 } }
  const model = { ...CONFIG.model, tie_word_embeddings: false }
  const trainer = await Trainer.create(await open(), { ...CONFIG, model, phases: [shuffled] })
  const weights = await trainer.exportWeights()
  await trainer.next()
  const digit = CONFIG.task.tokenizer.encode('3')[0]
  weights[trainer.layout.slices.embed_tokens.offset + digit * CONFIG.model.hidden_size] = Number.NaN
  trainer.importWeights(weights)
  const { nonFinite, samples } = await trainer.next()
  const { row, prompt, response } = nonFinite?.token ?? { row: -1, prompt: '', response: '' }
  expect(`${prompt}${response}`).toContain('3')
  expect(samples[row]).toMatchObject({ prompt, response })
  trainer.destroy()
})

test('a device that goes away during validation fails that step, and nothing is left unhandled', async () => {
  const gpu = await onOwnDevice(open)
  const validation = { test_freq: 1, prompts: 10, n: 1 }
  // A device of its own compiles every kernel once more: no more of them than it takes.
  const trainer = await Trainer.create(gpu, { ...CONFIG, phases: [SFT], validation })
  await trainer.next()
  // The step's metrics and the first validation batch are both on their way.
  const step = trainer.queue()
  gpu.destroy()
  await expect(step).rejects.toMatchObject({ name: 'GpuError' })
  await new Promise((resolve) => setTimeout(resolve, 50))
})
