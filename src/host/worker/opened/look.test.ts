// Looking into kept states, by a session over a made-up trainer.
import { expect, test } from 'vitest'
import { PRESETS } from '../../../document/presets/presets.ts'
import type { SteeredState } from '../../checkpoints/file/checkpoint.ts'
import { atMoment, NO_OBSERVATION } from '../../protocol/observation.ts'
import { all, fakeLab, going } from '../../testing.ts'
import { withNextStep } from './look.ts'

const request = atMoment({ ...NO_OBSERVATION, moments: true })

/** A run that is over, and a lab that has forgotten what it posted. */
async function over() {
  const lab = fakeLab()
  lab.session.handle(going)
  await lab.session.idle
  lab.events.length = 0
  lab.log.length = 0
  return lab
}

test('a kept state of a run that is over is opened, shown with the step that follows, and freed', async () => {
  const { session, events, log, files, made } = await over()
  const kept = await files.list('r1')
  // Which ones are kept depends on when writes end.
  const step = kept.find(({ step }) => step > 2)?.step ?? 0
  const states = made.length
  session.handle({ type: 'look', record: 'r1', step, request })
  await session.idle
  expect(log).toEqual([
    'create',
    `from ${step}, 0 changes`,
    expect.stringMatching(/^observe entropy/),
    'observe ',
    `queue ${step + 1}`,
    'free',
  ])
  expect(events).toMatchObject([
    {
      type: 'looked',
      record: 'r1',
      step,
      observation: expect.anything(),
      next: { step: step + 1, table: expect.anything() },
      why_no_tokens: '',
    },
  ])
  // Neither the run nor its files change.
  expect(await files.list('r1')).toEqual(kept)
  expect(made).toHaveLength(states)
})

test('where only the state is asked for, no step is taken', async () => {
  const { session, events, log, files } = await over()
  const step = (await files.list('r1')).find(({ step }) => step > 2)?.step ?? 0
  session.handle({ type: 'look', record: 'r1', step, request, is_state_only: true })
  await session.idle
  expect(log.filter((line) => line.startsWith('queue'))).toEqual([])
  const looked = { step, observation: expect.anything(), next: undefined, why_no_tokens: '' }
  expect(events).toMatchObject([{ type: 'looked', ...looked }])
})

test('without a step the newest state is looked at; where no step follows, it says so', async () => {
  const { session, events } = await over()
  session.handle({ type: 'look', record: 'r1', request })
  await session.idle
  expect(events).toMatchObject([{ type: 'looked', step: 6, next: undefined }])
  expect(all(events, 'looked')[0].why_no_tokens).toMatch(/^No step follows/)
})

test('the next step of a warm start has no tokens', async () => {
  const { session, events } = await over()
  session.handle({ type: 'look', record: 'r1', step: 1, request })
  await session.idle
  expect(all(events, 'looked')[0]).toMatchObject({ step: 1, next: undefined })
  expect(all(events, 'looked')[0].why_no_tokens).toMatch(/none of reinforcement/)
})

test('a state that is gone, or does not fit, is told and ends nothing', async () => {
  const { session, events } = await over()
  session.handle({ type: 'look', record: 'r9', request })
  await session.idle
  expect(events).toMatchObject([
    { type: 'look_failed', record: 'r9', message: expect.stringContaining('no such checkpoint') },
  ])
  session.handle({ ...going, run: 2, record: 'r2' })
  await session.idle
  expect(all(events, 'status').at(-1)?.status).toBe('finished')
})

test('the beginning of a run is made from its document, with the step that follows', async () => {
  const { session, events, log } = await over()
  session.handle({ type: 'look', record: 'r1', begins: going.experiment, request })
  await session.idle
  expect(log).toEqual([
    'create',
    expect.stringMatching(/^observe entropy/),
    'observe ',
    'queue 0',
    'queue 1',
    'free',
  ])
  expect(all(events, 'looked')[0]).toMatchObject({ step: 0, observation: expect.anything() })
})

test('only a run that is over gets one more step', () => {
  const { experiment } = PRESETS[0]
  const last = experiment.phases.length - 1
  const state = (phase: number, phase_step: number, ends: string | null = null) =>
    ({ trainer: { phase, phase_step, ends }, experiment }) as unknown as SteeredState
  const stepsOf = (of: SteeredState) => withNextStep(of).experiment.phases.map(({ steps }) => steps)
  const steps = experiment.phases.map((phase) => phase.steps)
  expect(stepsOf(state(0, steps[0]))).toEqual(steps)
  expect(stepsOf(state(last, steps[last] - 1))).toEqual(steps)
  expect(stepsOf(state(last, steps[last])).at(-1)).toBe(steps[last] + 1)
  const stopped = withNextStep(state(last, 2, 'score'))
  expect(stopped.trainer.ends).toBeNull()
  expect(stopped.experiment.phases[last].steps).toBe(3)
})

test('kept states are handed to who has the GPU, as asked for; what is missing is told', async () => {
  const { session, events, files } = await over()
  const steps = (await files.list('r1')).map(({ step }) => step)
  const [from, to] = [steps[0], steps[steps.length - 1]]
  const work = { what: 'parts', problems: 8 } as const
  session.handle({ type: 'touch', record: 'r1', steps: [to, from], work })
  session.handle({ type: 'touch', record: 'r9', steps: [1], work })
  // The last of two states is of the other run.
  session.handle({ type: 'touch', record: 'r1', steps: [to, from], other: 'r9', work })
  session.handle({ type: 'touch', record: 'r9', steps: [from, to], other: 'r1', work })
  await session.idle
  expect(events).toMatchObject([
    { type: 'touch_progress', record: 'r1', done: 1, of: 2 },
    { type: 'touched', touched: { step: to, costs: { problems: 8, parts: [to, from] } } },
    { type: 'touch_failed', record: 'r9', message: expect.stringContaining('no such checkpoint') },
    { type: 'touch_failed', record: 'r1', message: expect.stringContaining('no such checkpoint') },
    { type: 'touch_failed', record: 'r9', message: expect.stringContaining('no such checkpoint') },
  ])
})
