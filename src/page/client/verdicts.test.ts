// A person's verdicts, and the links that hold them.
import { expect, test } from 'vitest'
import { steerExperiment } from '../../document/experiment/experiment.ts'
import { decodeLink } from '../../document/links/link.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { labStore } from '../state/store.ts'
import { stepOnce, train } from './controls.ts'
import { shareLink } from './links.ts'
import { choosePreset } from './opening.ts'
import { adapter, draw, openPage, port, types, withTestPages } from './testing.ts'
import { giveVerdict, keepVerdicts, undoVerdict } from './verdicts.ts'

withTestPages()

test('verdicts are of the pair in line, and go into links once they have taught something', () => {
  openPage('?v=1&p=rlhf-clicks')
  port().says({ type: 'adapter', adapter })
  draw()
  giveVerdict('a')
  expect(types()).toEqual(['open'])
  train()
  const asked = (given: number, verdicts: string): LabEvent => ({
    type: 'pairs',
    run: 1,
    phase: 1,
    pairs: [{ id: given, prompt: '1+1=', response_a: '2', response_b: '3' }],
    pending: 9,
    given,
    min_pairs: 2,
    verdicts,
  })
  port().says(
    { type: 'phase', run: 1, step: 1, phase: 1, reason: 'steps' },
    { type: 'status', run: 1, status: 'waiting' },
    asked(2, 'ab'),
  )
  draw()
  giveVerdict('skip')
  undoVerdict()
  stepOnce()
  expect(port().commands.slice(2)).toEqual([
    { type: 'verdict', id: 2, choice: 'skip' },
    { type: 'undo_verdict' },
    // A run that waits is a run: no other begins.
    { type: 'step' },
  ])
  // Training has not begun: the person who opens the link is asked as well.
  expect(shareLink().url).not.toMatch(/verdicts/)
  port().says({ type: 'step', run: 1, step: 2, phase: 1, phase_step: 1, metrics: {} })
  draw()
  const { url, says } = shareLink()
  expect(url).toMatch(/&phases.1.pairs.verdicts=ab$/)
  expect(says).toMatch(/your verdicts/)
  expect(labStore.getState().experiment).toBe(labStore.getState().runExperiment)
  keepVerdicts()
  expect(labStore.getState().experiment.phases[1]).toMatchObject({ pairs: { verdicts: 'ab' } })
  expect(shareLink().url).toBe(url)
  // Another experiment has nothing to do with them.
  choosePreset('rlhf-tiny')
  expect(shareLink().url).not.toMatch(/verdicts/)
})

test('the link of a steered run that was taught holds both, and so does the next run', () => {
  openPage('?v=1&p=rlhf-clicks')
  port().says({ type: 'adapter', adapter })
  draw()
  train()
  const { runExperiment } = labStore.getState()
  if (!runExperiment) throw new Error('no run')
  const entry = { step: 1, kind: 'append_phase', phase: runExperiment.phases[0] } as const
  const result = steerExperiment(runExperiment, entry, 0, 1)
  if (!result.ok) throw new Error(result.message)
  const { experiment } = result
  const pairs = { pairs: [], pending: 0, given: 2, min_pairs: 2, verdicts: 'ab' } as const
  port().says(
    { type: 'steered', run: 1, entry, experiment, steering: [entry] },
    { type: 'phase', run: 1, step: 60, phase: 1, reason: 'steps' },
    { type: 'pairs', run: 1, phase: 1, ...pairs },
  )
  draw()
  expect(shareLink().says).toMatch(/with its seed and what was done to it \(1\)\.$/)
  port().says({ type: 'step', run: 1, step: 61, phase: 1, phase_step: 1, metrics: {} })
  draw()
  const { url, says } = shareLink()
  expect(says).toMatch(/with its seed, your verdicts and what was done to it \(1\)\.$/)
  const { steering, phases } = decodeLink(url.split('?')[1]).experiment
  expect(steering).toEqual([
    entry,
    { step: 60, kind: 'set', path: 'phases.1.pairs.verdicts', value: 'ab' },
  ])
  expect(phases).toHaveLength(3)
  port().says({ type: 'status', run: 1, status: 'finished' })
  draw()
  keepVerdicts()
  train()
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', experiment: { steering } })
})
