// A run that asks for verdicts and is steered meanwhile. Here, because lab may not load the GPU
// side.
import { expect, test } from 'vitest'
import { writeVerdicts } from '../../../document/experiment/fields/verdicts.ts'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { type Steered, SteeredRun } from '../../../host/worker/base/steered_run.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { type Said, withVerdicts } from '../../../page/state/taught.ts'
import { steeredEngine } from '../../../rl/train/engine.ts'
import type { StepResult } from '../../../rl/train/parts/step_result.ts'
import { numbers, phase, run } from './testing.ts'

test('a run that waits for verdicts is steered, moves to other buffers, and is repeated by its document without a question', async () => {
  const asks = { kind: 'reward_model', steps: 2, batch_size: 4 }
  const pairs = { source: 'human', count: 6, held_out: 1, min_pairs: 3 }
  const document = tinyExperiment({
    phases: [
      { kind: 'sft', steps: 2 },
      { ...asks, pairs },
      { kind: 'rl', steps: 2, reward_model: { enable: true } },
    ],
  })
  const gpu = await Gpu.open()
  const runByHand = await SteeredRun.begin(steeredEngine(gpu, undefined), document)
  const results: StepResult[] = []
  const done: Steered[] = []
  const verdicts = new Map<number, Said>()
  const first = runByHand.trainer
  const say = (id: number, choice: 'a' | 'b' | 'skip') =>
    expect(runByHand.decide(id, choice)).toBe(true)
  /** What is done where the run waits: before any verdict, after one, and so on. */
  const waits: (() => void)[] = [
    () => {
      for (const kind of ['next_phase', 'repeat_phase'] as const) runByHand.steer({ kind })
      say(0, 'a')
    },
    // More rows than before: the pairs and what was said of them move along.
    () =>
      runByHand.steer({
        kind: 'append_phase',
        phase: phase({ kind: 'rl', steps: 1, rollout: { train_batch_size: 8 } }),
      }),
    () => {
      expect(runByHand.trainer).not.toBe(first)
      say(1, 'skip')
      say(2, 'b')
      say(3, 'b')
    },
    // The phase is repeated and asks again.
    () => {
      for (const id of [0, 1, 2]) say(id, 'b')
    },
  ]
  for (;;) {
    if (runByHand.step === 3 && done.length === 3) runByHand.steer({ kind: 'repeat_phase' })
    done.push(...(await runByHand.obey()))
    if (runByHand.isFinished) break
    if (!(await runByHand.ready())) {
      waits.shift()?.()
      continue
    }
    results.push(await (await runByHand.queue()).result)
    const { log } = runByHand.preferences ?? {}
    const { phase: index, step } = runByHand
    if (log)
      verdicts.set(index, {
        said: writeVerdicts(log),
        index,
        step: verdicts.get(index)?.step ?? step - 1,
      })
  }
  const { actor, preferences } = await runByHand.trainer.exportState()
  gpu.destroy()
  expect(done.map(({ refused }) => refused?.match(/taught|begun to train/)?.[0])).toEqual([
    'taught',
    'begun to train',
    undefined,
    undefined,
  ])
  expect([...verdicts.values()]).toEqual([
    { index: 1, step: 2, said: 'asbb' },
    { index: 2, step: 4, said: 'bbb' },
  ])
  const steered = tinyExperiment({ ...document, steering: done[done.length - 1].steering })
  const taught = withVerdicts(steered, [...verdicts.values()])
  const again = await run(decodeLink(encodeLink(taught)).experiment)
  expect(again.results).toEqual(results.map(numbers))
  expect(again.weights).toEqual(actor.weights)
  expect(again.results.at(-1)?.step).toBe(9)
  expect(preferences?.log).toHaveLength(3)
})
