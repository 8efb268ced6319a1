import { expect, test } from 'vitest'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { differsFrom, openSource, plainHistory, withLaterSteering } from './origin.ts'
import { memoryFiles } from './storage/memory_files.ts'
import { madeCheckpoint } from './testing.ts'

const set = (step: number, value: number): SteeringEntry => ({
  step,
  kind: 'set',
  path: 'actor.optim.lr',
  value,
})

test('what was done after a state is done again; another past is not taken for its own', () => {
  const { run } = madeCheckpoint()
  const state = {
    ...run,
    document: { ...run.document, steering: [set(2, 0.1), set(90, 0.2)] },
    done: 1,
  }
  const of = (...known: SteeringEntry[]) => withLaterSteering(state, known).steering
  expect(of(set(2, 0.1), set(7, 0.3), set(90, 0.2))).toEqual([
    set(2, 0.1),
    set(7, 0.3),
    set(90, 0.2),
  ])
  // By hand in place of what the document had to come.
  expect(of(set(2, 0.1), set(7, 0.3))).toEqual([set(2, 0.1), set(7, 0.3)])
  expect(withLaterSteering(state, [set(2, 0.4), set(7, 0.3)])).toBe(state.document)
  // A record that was written before the checkpoint.
  expect(withLaterSteering(state, [set(2, 0.1)])).toBe(state.document)
})

test('columns cross the boundary at their length', () => {
  const { history } = madeCheckpoint()
  const { series } = plainHistory(history)
  for (const [metric, { steps, values, length }] of history.series) {
    expect(series[metric].steps).toEqual(steps.slice(0, length))
    expect(series[metric].values).toEqual(values.slice(0, length))
  }
})

test('what differs is said in one sentence, and nothing where nothing does', () => {
  const here = { understory: '1', adapter: 'a', kernels: '' }
  expect(differsFrom(here, here)).toBeUndefined()
  expect(differsFrom({ understory: '0', adapter: 'b', kernels: 'default' }, here)).toBe(
    'Where this checkpoint was made, the adapter was “b”, its kernels were others and the version was 0: from here on the numbers agree with that run up to rounding, not bit for bit.',
  )
})

test('an error that is not the file’s ends the search', async () => {
  const files = memoryFiles(() => 0)
  for (const step of [1, 2]) await files.write('r', step, Uint8Array.of(step))
  const broken = async () => {
    throw new TypeError('a mistake')
  }
  const from = { kind: 'resume', record: 'r', step: 2 } as const
  await expect(openSource(from, files, broken, () => {})).rejects.toThrow('a mistake')
  const made = madeCheckpoint()
  const opened = await openSource(
    from,
    files,
    async () => made,
    () => {},
  )
  expect(opened).toMatchObject({ why: 'resume', parent: made.parent })
  const branch = await openSource(
    { ...from, kind: 'branch' },
    files,
    async () => made,
    () => {},
  )
  expect(branch.parent).toEqual({ record: made.record, step: made.run.trainer.step })
})
