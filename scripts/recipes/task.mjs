// Follows the recipe "Add a task": one file, and one line in the list of tasks. It brings letters,
// so a vocabulary of its own.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const ID = 'vowel_counting'

export const task = {
  name: 'a task',
  file: 'src/tasks/tasks/vowel_counting.ts',
  text: readFileSync(new URL('vowel_counting.ts', import.meta.url), 'utf8'),
  list: 'src/tasks/index.ts',
  import: "import { vowel_counting } from './tasks/vowel_counting.ts'",
  after: '  letter_counting,',
  line: '  vowel_counting,',
  checks: {
    'an experiment and its link may name it, and the menu lists it': document,
    'problems are asked in its letters and scored': problems,
    'the model has its vocabulary': model,
    'a job for verl has its reward': job,
  },
}

const experimentOf = async (load) => {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const parsed = parseExperiment({ task: { id: ID, max_length: 5 }, model: { head_dim: 32 } })
  expect(parsed.issues ?? []).toEqual([])
  return parsed.experiment
}

async function document(load) {
  const experiment = await experimentOf(load)
  const { decodeLink, encodeLink } = await load('document/links/link.ts')
  expect(decodeLink(encodeLink(experiment)).experiment.task).toEqual(experiment.task)
  const { experimentFields } = await load('document/experiment/form/form.ts')
  const menu = experimentFields(experiment).find(({ path }) => path === 'task.id')
  expect(menu.options.find(({ value }) => value === ID).label).toBe('Count vowels')
}

async function problems(load) {
  const { createTask } = await load('tasks/index.ts')
  const made = createTask(ID)
  const { prompt, ground_truth } = made.sample(1, 0, 'train')
  expect(prompt).toMatch(/^vowels in [a-z]+\?$/)
  expect(made.score(prompt, ground_truth)).toBe(1)
  expect(made.score('vowels in banana?', '4')).toBe(0)
  expect(made.tokenizer.decode(made.tokenizer.encode(prompt))).toBe(prompt)
}

async function model(load) {
  const { trainerConfig } = await load('document/experiment/trainer_config.ts')
  // Padding, end, 26 letters, ten digits, a question mark and a space.
  expect(trainerConfig(await experimentOf(load)).model.vocab_size).toBe(40)
}

async function job(load) {
  const { makeJob } = await load('jobs/job_files.ts')
  const { experimentSource } = await load('jobs/model_folders.ts')
  const source = { ...experimentSource(await experimentOf(load)), understory: '0.0.0' }
  const { files } = makeJob(source, { target: 'verl', verl: '0.9' })
  expect(files.map(({ path }) => path)).toContain('reward.py')
}
