// A training that is paused, over a worker that trains nothing.
import { expect, test, vi } from 'vitest'
import { fingerprintOf } from '../../../document/study/fingerprint.ts'
import { planStudy } from '../../../document/study/search.ts'
import { armsOf, DOCUMENT, studyOf } from '../../../document/study/testing.ts'
import type { LabCommand, LabEvent } from '../../../host/protocol/protocol.ts'
import type { LabPort } from '../../connection/port.ts'
import { StudyTraining } from './study_training.ts'

test('a training ends once the steps of its runs are kept; one that has none is not waited for', async () => {
  const told: string[] = []
  let hear: (event: { data: LabEvent }) => void = () => {}
  const say = (event: object) => hear({ data: event as LabEvent })
  const port = {
    addEventListener: (type: string, listener: never) => {
      if (type === 'message') hear = listener
    },
    postMessage: ({ type }: LabCommand) => {
      told.push(type)
      if (type === 'open') say({ type: 'adapter', adapter: { description: 'fake' } })
    },
    terminate: () => told.push('terminate'),
  } as unknown as LabPort
  const [study, arms] = [studyOf({ ...DOCUMENT, seeds: [1] }), armsOf({ ...DOCUMENT, seeds: [1] })]
  const { runs } = planStudy(study, arms, [])
  const training = new StudyTraining({
    study,
    arms,
    createPort: () => port,
    missing: () => runs,
    at_once: () => 2,
    keep: async () => {},
    onPresent: () => {},
  })
  void training.train()
  await vi.waitFor(() => expect(told.filter((type) => type === 'start')).toHaveLength(2))
  say({ type: 'step', run: 1, step: 7, phase: 0, metrics: {} })
  expect([...training.steps]).toEqual([[fingerprintOf(runs[0].experiment), 7]])
  const ended = training.end()
  say({ type: 'step', run: 1, step: 8, phase: 0, metrics: {} })
  say({ type: 'status', run: 1, status: 'paused' })
  say({ type: 'checkpoint', run: 1, step: 4 })
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(told.at(-1)).toBe('pause')
  say({ type: 'checkpoint', run: 1, step: 8 })
  await ended
  expect(told.slice(-2)).toEqual(['pause', 'terminate'])
})
