import { afterEach, expect, test, vi } from 'vitest'
import { newPhase } from '../../document/experiment/experiment.ts'
import { NO_OPTIONS } from '../../document/links/view_options.ts'
import type { LabCommand } from '../../host/protocol/protocol.ts'
import { train } from '../client/controls.ts'
import { appendPhase, editField, movePhase, removePhase } from '../client/edits.ts'
import { closeLab, openLab } from '../client/lab.ts'
import { shareLink } from '../client/links.ts'
import { choosePreset } from '../client/opening.ts'
import { nextPhase, steer } from '../client/steering.ts'
import { lockedBecause, shareStore } from './share_store.ts'
import { labStore } from './store.ts'

const commands: LabCommand[] = []

function openPage(hash: string): void {
  commands.length = 0
  openLab(
    () => ({
      postMessage: (command) => commands.push(command),
      terminate: () => {},
      addEventListener: () => {},
    }),
    {
      address: 'https://understory.example/',
      query: 'v=1&p=tiny',
      hash,
      replaceQuery: () => {},
      nextFrame: (flush) => flush(),
      recall: () => undefined,
      remember: () => {},
      now: () => 0,
    },
  )
}

afterEach(closeLab)

test('a lock keeps the experiment as the link has it, whatever way is tried', () => {
  openPage('#lock=experiment,settings,phases')
  const before = labStore.getState().experiment
  const locked = /opened by a link that locks it/
  expect(choosePreset('tiny-ppo')).toBe(false)
  for (const path of ['seed', 'actor.optim.lr', 'phases.1.steps', 'phases', 'steering'])
    expect(editField(path, 3)).toMatch(locked)
  expect(appendPhase(newPhase('rl'))).toMatch(locked)
  expect(removePhase(1)).toMatch(locked)
  expect(movePhase(1, 2)).toMatch(locked)
  train()
  nextPhase()
  expect(steer({ kind: 'next_phase' })).toMatch(locked)
  expect(steer({ kind: 'set', path: 'actor.optim.lr', value: 1 })).toMatch(locked)
  expect(labStore.getState().experiment).toBe(before)
  expect(commands.map(({ type }) => type)).toEqual(['open', 'start'])
})

test('each lock is for itself', () => {
  openPage('#lock=phases')
  expect(lockedBecause('settings')).toBeUndefined()
  expect(editField('phases.1.steps', 3)).toBeDefined()
  expect(editField('seed', 3)).toBeUndefined()
  openPage('#lock=settings')
  expect(editField('phases.1.steps', 3)).toBeUndefined()
  expect(editField('seed', 3)).toBeDefined()
  expect(choosePreset('tiny-ppo')).toBe(true)
})

test('the sender’s result and what is wrong with it come with the page', async () => {
  openPage('#tab=inside&hide=moon&r=AQ')
  expect(shareStore.getState()).toMatchObject({ result: undefined, options: NO_OPTIONS })
  await vi.waitFor(() =>
    expect(labStore.getState().notices).toEqual([
      "The link would hide what is not known here: 'moon'.",
      'The sender’s curves in the link cannot be read: they are damaged, or the link was cut.',
    ]),
  )
})

test('a link carries the view behind its experiment', () => {
  openPage('')
  expect(shareLink('#lock=phases').url).toBe('https://understory.example/?v=1&p=tiny#lock=phases')
  expect(shareLink()).toEqual({
    url: 'https://understory.example/?v=1&p=tiny',
    holds: ['its seed'],
    says: 'it opens this experiment with its seed.',
  })
  const { experiment } = labStore.getState()
  const run = { ...experiment, seed: 9 }
  const left = { ...labStore.getState(), runExperiment: run, runDocument: run }
  const steps = experiment.phases.reduce((sum, phase) => sum + phase.steps, 0)
  expect(shareLink('', left).says).toBe(
    `it opens the settings (${steps} steps), not the run on screen, with its seed.`,
  )
  expect(shareLink(`#r=${'A'.repeat(2000)}`).says).toMatch(
    /with 20\d\d characters some programs cut/,
  )
})
