import { expect, test } from 'vitest'
import { contentHash } from '../../../document/content/content.ts'
import { withField } from '../../../document/experiment/experiment.ts'
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import { PRESETS } from '../../../document/presets/presets.ts'
import { ExperimentError } from '../base/session_host.ts'
import { takeContents } from './run_start.ts'

const bytes = new TextEncoder().encode(
  `prompt,answer\n${[0, 1, 2, 3, 4].map((d) => `${d}=,${d}`).join('\n')}`,
)
const hash = await contentHash(bytes)
const task = {
  id: 'dataset',
  data: hash,
  name: 'five.csv',
  prompt_key: 'prompt',
  answer_key: 'answer',
  max_prompt_length: 2,
  max_response_length: 2,
  train_size: 4,
  test_size: 1,
}
const set = withField(PRESETS[0].experiment, 'task', task)
if (!set.ok) throw new Error(set.message)
const { experiment } = set

test('a run takes the files that its document names, and no others for them', async () => {
  const file = { hash, name: 'five.csv', bytes }
  const damaged = { ...file, bytes: bytes.slice(1) }
  const refused = async (files: readonly (typeof file)[], message: RegExp) => {
    const error = await takeContents(experiment, files).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ExperimentError)
    expect((error as Error).message).toMatch(message)
  }
  await refused([], /five\.csv \(sha256-.*is not here/)
  await refused([damaged], /five\.csv: expected sha256-.*, found sha256-/)
  // The caller has loaded them.
  await takeContents(experiment, undefined)
  expect(() => taskOf(experiment.task).sample(1, 0, 'test')).toThrow(/is not here/)
  await takeContents(experiment, [file])
  expect(taskOf(experiment.task).sample(1, 0, 'test').prompt).toMatch(/^\d=$/)
})
