// Follows the recipe "Add a reward": one file, and one line in the list of rewards.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const PART = { id: 'palindrome', weight: 0.5, least: 3 }

export const reward = {
  name: 'a reward',
  file: 'src/tasks/rewards/palindrome.ts',
  text: readFileSync(new URL('palindrome.ts', import.meta.url), 'utf8'),
  list: 'src/tasks/rewards/rewards.ts',
  import: "import { palindrome } from './palindrome.ts'",
  after: '  length,',
  line: '  palindrome,',
  edits: [
    {
      file: 'src/tasks/rewards/shaping.ts',
      after: 'export const SHAPING_PARTS: readonly string[] = [',
      text: "  'palindrome',",
    },
    {
      file: 'src/tasks/rewards/rewards.test.ts',
      after: 'const CASES: readonly Row[] = [',
      text: "  ['palindrome', 'abba', '', 1],\n  ['palindrome', 'abb', '', 0],",
    },
  ],
  checks: {
    'an experiment and its link may name it': document,
    'responses are scored, and the part has its name': scores,
    'the dialog draws its settings': settings,
    'a job names it where its Python is missing': job,
  },
}

const experimentOf = async (load) => {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const parsed = parseExperiment({ reward: { parts: [PART] } })
  expect(parsed.issues ?? []).toEqual([])
  return parsed.experiment
}

async function document(load) {
  const experiment = await experimentOf(load)
  const { decodeLink, encodeLink } = await load('document/links/link.ts')
  expect(decodeLink(encodeLink(experiment)).experiment.reward.parts).toEqual([PART])
}

async function scores(load) {
  const { trainerConfig } = await load('document/experiment/trainer_config.ts')
  const { reward: composed } = trainerConfig(await experimentOf(load))
  const responses = ['aba', 'ab', 'aa'].map((solution_str) => ({
    data_source: 'x',
    solution_str,
    ground_truth: '',
    extra_info: { prompt: '' },
  }))
  const scored = await composed.score(responses)
  expect(scored.scores).toEqual([0.5, 0, 0])
  expect(scored.columns.get('palindrome')).toEqual([1, 0, 0])
}

async function settings(load) {
  const { REWARDS } = await load('tasks/rewards/rewards.ts')
  const kind = REWARDS.find(({ id }) => id === 'palindrome')
  expect(kind.params.map(({ label }) => label)).toEqual(['Least length'])
}

async function job(load) {
  const { rewardFiles } = await load('jobs/reward/composed_reward.ts')
  const { createTask } = await load('tasks/index.ts')
  const experiment = await experimentOf(load)
  expect(() => rewardFiles(experiment, createTask(experiment.task.id))).toThrow(
    /the reward palindrome does not exist in Python; add it to src\/jobs\/templates\/rewards/,
  )
}
