import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { decodeLink } from '../../document/links/link.ts'
import { TINY } from '../../host/checkpoints/testing.ts'
import { madeUpRun } from '../train/testing.ts'
import { createProgress } from './progress.ts'

function progressAt(width: number) {
  const written: string[] = []
  let nowMs = 0
  const progress = createProgress(
    (text) => written.push(text),
    width,
    () => nowMs,
  )
  const step = (step: number, metrics: Record<string, number> = {}) => {
    nowMs += 500
    progress.show({ step, totalSteps: 25, phase: 'phase 1/2 warm start', metrics })
  }
  return { written, step, progress }
}

test('a log gets a line every ten steps and one at the end', () => {
  const { written, step, progress } = progressAt(0)
  for (let i = 1; i <= 25; i++) step(i)
  progress.end()
  expect(written.map((line) => /\d+\/25/.exec(line)?.[0])).toEqual(['10/25', '20/25', '25/25'])
  expect(written.every((line) => line.endsWith('\n'))).toBe(true)
})

test('a person sees one line that is redrawn and never wraps', () => {
  const { written, step, progress } = progressAt(30)
  step(1)
  step(2)
  progress.end()
  expect(written.length).toBe(3)
  for (const line of written.slice(0, 2)) {
    expect(line.startsWith('\r\x1b[K')).toBe(true)
    expect(line.length - '\r\x1b[K'.length).toBe(29)
  }
  expect(written[2]).toBe('\n')
})

test('the time left follows from the steps done', () => {
  const { written, step } = progressAt(200)
  for (let i = 1; i <= 5; i++) step(i, { 'critic/score/mean': 0.25 })
  // 5 steps in 2.5 s leave 20 steps, 10 s.
  expect(written[4]).toContain('5/25  phase 1/2 warm start  reward 0.250  0:03 + 0:10')
})

test('a warm start shows its loss', () => {
  const { written, step } = progressAt(200)
  step(1, { 'train/loss': 1.5 })
  expect(written[0]).toContain('loss 1.500')
})

test('what cannot be written ends no run', () => {
  const progress = createProgress(() => {
    throw new Error('EIO: the terminal is gone')
  }, 80)
  progress.show({ step: 1, totalSteps: 2, phase: 'p', metrics: {} })
  progress.end()
})

test('steps beyond the total fill the bar and leave no time', () => {
  const written: string[] = []
  const progress = createProgress((text) => written.push(text), 0)
  progress.show({ step: 20, totalSteps: 10, phase: 'p', metrics: {} })
  expect(written[0]).toMatch(/^█{24} 20\/10 .* \+ 0:00\n$/)
})

/** Every step of a document as the command line shows it. */
async function shown(document: Experiment) {
  const written: string[] = []
  const progress = createProgress((text) => written.push(text), 200)
  const run = await madeUpRun(document)
  let totalSteps = 0
  for (;;) {
    await run.obey()
    if (run.isFinished) break
    const reported = await (await run.queue()).result
    totalSteps = run.totalSteps
    expect(totalSteps).toBeGreaterThanOrEqual(reported.step)
    progress.show({ ...reported, phase: 'p', totalSteps })
  }
  return { written, totalSteps, step: run.step }
}

test('a phase that is cut shorter than it has run is shown to its end', async () => {
  const { experiment, notices } = decodeLink(
    '?p=tiny&phases.0.steps=20&steering.0=15,set,phases.0.steps,5',
  )
  expect(notices).toEqual([])
  const { written, step, totalSteps } = await shown(experiment)
  // 15 of the first phase, and the others whole.
  expect(step).toBe(experiment.phases.slice(1).reduce((sum, { steps }) => sum + steps, 15))
  expect(totalSteps).toBe(step)
  // Step 0 is one more.
  expect(written).toHaveLength(step + 1)
  expect(written.at(-1)).toContain(`${step}/${step}`)
})

test('any steered document is shown to its end', { timeout: 60_000 }, async () => {
  const entry = fc.oneof(
    fc.record({
      kind: fc.constant('set'),
      path: fc.constantFrom('phases.0.steps', 'phases.1.steps', 'phases.2.steps'),
      value: fc.integer({ min: 1, max: 12 }),
    }),
    fc.constant({ kind: 'next_phase' }),
    fc.constant({ kind: 'repeat_phase' }),
    fc.record({
      kind: fc.constantFrom('append_phase', 'insert_phase'),
      phase: fc.record({ kind: fc.constant('sft'), steps: fc.integer({ min: 1, max: 5 }) }),
    }),
    fc.record({ kind: fc.constant('remove_phase'), index: fc.integer({ min: 1, max: 3 }) }),
  )
  const document = fc.record({
    phases: fc.array(
      fc.record({
        kind: fc.constantFrom('sft', 'rl'),
        steps: fc.integer({ min: 1, max: 10 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    steering: fc
      .array(fc.tuple(fc.integer({ min: 0, max: 25 }), entry), { minLength: 1, maxLength: 5 })
      .map((list) => list.sort(([a], [b]) => a - b).map(([step, own]) => ({ step, ...own }))),
  })
  await fc.assert(
    fc.asyncProperty(document, async (own) => {
      const parsed = parseExperiment({ ...TINY, ...own })
      fc.pre(parsed.ok)
      const { written, step, totalSteps } = await shown(parsed.experiment)
      expect(written).toHaveLength(step + 1)
      expect(totalSteps).toBeGreaterThanOrEqual(step)
      for (const line of written) expect(line).toMatch(/\+ \d+:\d\d$/)
    }),
    { numRuns: process.env.LONG_TESTS ? 100 : 40 },
  )
})
