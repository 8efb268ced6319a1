// What is tried first with the model of a run: a held-out problem of its own task.
import { expect, test } from 'vitest'
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { loadContents } from '../../../host/content/load.ts'
import { chosenName } from './run_files.ts'
import { firstTry } from './run_model.ts'

const experimentOf = (id: string) => {
  const preset = presetOf(id)
  if (!preset) throw new RangeError(`no preset ${id}`)
  return preset.experiment
}

test('it begins with the first held-out problem, and has room for the longest answer', () => {
  const experiment = experimentOf('tiny')
  const { seed, task, reward, rollout } = experiment
  const { prompt } = taskOf(task).sample(seed, 0, 'test')
  expect(firstTry(experiment)).toEqual({
    text: prompt,
    continues: true,
    experiment: { task, seed, reward },
    max_tokens: rollout.max_response_length,
  })
})

test('a run of stories begins with a story, and knows the direction of the storyteller', async () => {
  const experiment = experimentOf('story-ends')
  // Until the stories are loaded nobody knows a prompt.
  expect(firstTry(experiment)).toMatchObject({ of: 'story' })
  await loadContents({ task: experiment.task }, [])
  const { of, text = '' } = firstTry(experiment)
  expect(of).toBe('story')
  expect(text.split(' ').length).toBeGreaterThan(20)
})

test('a run that is a preset’s is called as people chose it, with a seed of its own behind it', () => {
  const experiment = experimentOf('first-steps')
  const { name } = experiment
  const entry = (document: Experiment) =>
    ({
      header: { document, preset_id: 'first-steps' },
      labels: { name: '' },
    }) as Parameters<typeof chosenName>[0]
  expect(chosenName(entry(experiment))).toBe(name)
  expect(chosenName(entry({ ...experiment, seed: 7 }))).toBe(`${name}, seed 7`)
  const rollout = { ...experiment.rollout, temperature: 0.8 }
  expect(chosenName(entry({ ...experiment, rollout }))).toContain('temperature')
})
