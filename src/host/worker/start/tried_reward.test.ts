// The trial of a reward before a run of the page: nothing is opened where it fails, and what it
// found is told.
import { expect, test } from 'vitest'
import {
  installProgramRunner,
  loadProgram,
  type ProgramAnswer,
} from '../../../tasks/task/program.ts'
import { fakeLab, start } from '../../testing.ts'

const code = `sha256-${'a'.repeat(64)}`
loadProgram(code, 'def compute_score(solution_str, ground_truth): ...')
const part = { id: 'program', weight: 1, code, name: 'reward.py' }
const { reward } = start.experiment
const rewarded = {
  ...start,
  experiment: { ...start.experiment, reward: { ...reward, parts: [part] } },
}

async function trained(answer: (row: number) => ProgramAnswer) {
  installProgramRunner(async (_program, _entry, calls) => calls.map((_, row) => answer(row)))
  const lab = fakeLab()
  lab.session.handle(rewarded)
  await lab.session.idle
  return lab
}

test('a reward that scores no answer trains nothing, and its own error is the message', async () => {
  const message = "reward.py, line 5: NameError: name 'soluton_str' is not defined"
  const { events, log, steps } = await trained(() => ({ problem: 'error', message }))
  expect(steps()).toEqual([])
  expect(log).toEqual([])
  expect(events.at(-1)).toMatchObject({
    type: 'failed',
    run: 1,
    error: { code: 'reward', message: expect.stringContaining(message) },
  })
})

test('a reward that fails on some answers, or says the same of all, is trained on with a remark', async () => {
  const some = await trained((row) =>
    row % 3 === 2 ? { problem: 'error', message: 'empty' } : { value: 1 - (row % 3) },
  )
  expect(some.steps()).toHaveLength(7)
  expect(some.events.find(({ type }) => type === 'reward_tried')).toMatchObject({
    remarks: [expect.stringMatching(/could not score 3 of 9 answers.*empty: empty/)],
  })
  const same = await trained(() => ({ value: 0.5 }))
  expect(same.events.find(({ type }) => type === 'reward_tried')).toMatchObject({
    remarks: [expect.stringContaining('says 0.5 of right, wrong and empty answers alike')],
  })
  const fine = await trained((row) => ({ value: row % 3 === 0 ? 1 : 0 }))
  expect(fine.events.some(({ type }) => type === 'reward_tried')).toBe(false)
  expect(fine.steps()).toHaveLength(7)
})
