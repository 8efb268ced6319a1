// Settings that begin with a shipped model are written with its weights.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { presetOf } from '../document/presets/presets.ts'
import { shippedModel } from '../host/content/models/shipped.ts'
import { withFirstWeights } from './first_weights.ts'
import { checkJob, makeJob } from './job_files.ts'
import { experimentSource, modelWords } from './model_folders.ts'

const preset = presetOf('first-run')
if (!preset) throw new Error('no such preset')
const { experiment } = preset
const model = shippedModel(`${experiment.model.source}`)
const files = (model?.files ?? []).map(
  ({ name }) => new File([readFileSync(`public/models/${model?.name}/${name}`)], name),
)
const understory = '0.0.0'

test('a job has the weights of the model that the settings begin with', async () => {
  const source = experimentSource(experiment)
  const own = await withFirstWeights(source, { model: files, teacher: undefined })
  for (const target of ['verl', 'bupo', 'trl'] as const) {
    const job = makeJob({ ...own, understory }, { target, verl: '0.9' })
    expect(job.files.map(({ path }) => path)).toContain('model/model.safetensors')
  }
  expect(modelWords(own)).toContain('are those of sorter, which these settings begin with')
  expect(own.policy?.some((weight) => weight !== 0)).toBe(true)
})

test('weights that are not here are missed before a job is made', () => {
  const source = { ...experimentSource(experiment), understory }
  expect(() => checkJob(source, { target: 'trl', verl: '0.9' })).toThrow(
    /begins with sorter \(sha256-\w+…?\), whose weights are no part of the settings/,
  )
})

test('settings of other sizes than the model has are refused', async () => {
  const other = { ...experiment, model: { ...experiment.model, num_hidden_layers: 2 } }
  const read = withFirstWeights(experimentSource(other), { model: files, teacher: undefined })
  await expect(read).rejects.toThrow('sorter has other sizes than these settings say')
})
