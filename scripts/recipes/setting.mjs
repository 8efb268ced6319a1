// Follows the recipe "Add a setting": its declaration, and the place that uses it. No other file is
// touched.
import { expect } from 'vitest'

const PATH = 'algorithm.advantage_clip'

export const setting = {
  name: 'a setting',
  edits: [
    {
      file: 'src/rl/config/algorithm.ts',
      after: '  readonly balance_batch: boolean',
      text: '  /** Advantages are held within ± this; null = as they are. */\n  readonly advantage_clip: number | null',
    },
    {
      file: 'src/rl/config/algorithm.ts',
      after: 'export const ALGORITHM: Tree<AlgorithmFields> = {',
      text: `  advantage_clip: number({
    label: 'Largest advantage',
    help: 'Advantages are held within plus and minus this; none = as they are.',
    live: true,
    default: null,
    none: 0,
    min: 0.01,
    max: 1000,
    scale: 'log',
    elsewhere: { refused: 'it holds no advantages within a range', trl: 'advantage_clip' },
  }),`,
    },
    {
      file: 'src/rl/experience/experience.ts',
      after: '    : estimated',
      text: `  const { advantage_clip: most } = algorithm
  if (most !== null)
    for (const [i, advantage] of advantages.entries())
      advantages[i] = Math.max(-most, Math.min(most, advantage))`,
    },
  ],
  checks: {
    'the form, documents and links have it, and it may change in a run': document,
    'the place that uses it has its value': use,
    'a job takes it over, or is refused': job,
  },
}

const experimentOf = async (load, value) => {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const parsed = parseExperiment({ algorithm: { advantage_clip: value } })
  expect(parsed.issues ?? []).toEqual([])
  return parsed.experiment
}

async function document(load) {
  const { experimentFields } = await load('document/experiment/form/form.ts')
  const { decodeLink, encodeLink } = await load('document/links/link.ts')
  const experiment = await experimentOf(load, 2)
  const field = experimentFields(experiment).find(({ path }) => path === PATH)
  expect(field).toMatchObject({ value: 2, default: null, live: true, hasEffect: true })
  expect(decodeLink(encodeLink(experiment)).experiment).toEqual(experiment)
  expect((await experimentOf(load, 0)).algorithm.advantage_clip).toBe(null)
}

async function use(load) {
  const { makeExperience } = await load('rl/experience/experience.ts')
  const { klController } = await load('rl/experience/kl.ts')
  const { RL } = await load('rl/testing.ts')
  const batch = {
    response_length: 1,
    index: [0, 0],
    response_mask: [1, 1],
    token_level_scores: [0, 1],
  }
  const advantages = (advantage_clip) => {
    const phase = { ...RL, algorithm: { ...RL.algorithm, advantage_clip } }
    const made = makeExperience(phase, batch, klController(phase.algorithm.kl_ctrl))
    return Array.from(made.advantages)
  }
  expect(advantages(null)[1]).toBeGreaterThan(0.7)
  expect(advantages(0.5)).toEqual([-0.5, 0.5])
}

async function job(load) {
  const { makeJob } = await load('jobs/job_files.ts')
  const { experimentSource } = await load('jobs/model_folders.ts')
  const source = async (value) => ({
    ...experimentSource(await experimentOf(load, value)),
    understory: '0.0.0',
  })
  const verl = { target: 'verl', verl: '0.9' }
  const refused = await source(2)
  expect(() => makeJob(refused, verl)).toThrow(/it holds no advantages within a range/)
  expect(makeJob(await source(null), verl).files.length).toBeGreaterThan(3)
  expect(makeJob(refused, { target: 'trl', verl: '0.9' }).files.length).toBeGreaterThan(3)
}
