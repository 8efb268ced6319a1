// Tests which kernels a run has: remembered, suited, pinned or default ones; and what is measured
// beside it.
import { expect, test } from 'vitest'
import { FIRST, SECOND } from '../../protocol/testing.ts'
import { all, fakeLab, start } from '../../testing.ts'
import { gpuError } from '../testing.ts'

const { experiment } = start
const fast = { [FIRST]: 'fast' }
/** Two measurements settle the first class, two the second one. */
const measured = [
  { done: 1, of: 4, choice: {} },
  { done: 2, of: 4, choice: fast },
  { done: 3, of: 4, choice: fast },
  { done: 4, of: 4, choice: { ...fast, [SECOND]: 'plain' } },
]
const GPU = { is_software: false, measured }

test('a first run takes its first step before anything is measured, then measures one variant between two steps', async () => {
  const { session, events, log, last } = fakeLab(GPU)
  session.handle(start)
  await session.idle
  const begun = { [FIRST]: 'plain', [SECOND]: 'plain' }
  expect(log.slice(0, 10)).toEqual([
    `create ${JSON.stringify(begun)}`,
    'queue 0',
    'queue 1',
    'measure without {}',
    'queue 2',
    'measure without {}',
    'queue 3',
    // What is known by now takes effect before the first step of the next phase.
    'steer kernels',
    // The last state of a phase is always kept.
    'export 3',
    'queue 4',
  ])
  // The second phase measures on; the last phase has no phase after it.
  expect(log.filter((line) => line.startsWith('measure'))).toHaveLength(4)
  expect(log.filter((line) => line.startsWith('steer'))).toHaveLength(1)
  expect(all(events, 'kernels')).toMatchObject([{ matmul: begun, kernels: 'default' }])
  const told = all(events, 'kernels_measured')
  expect(told.map(({ done, isOver }) => [done, isOver])).toEqual([
    [1, false],
    [2, false],
    [3, false],
    [4, true],
  ])
  // A class is remembered as soon as it is settled.
  expect(told.map(({ cache }) => cache !== undefined)).toEqual([false, true, false, true])

  const again = fakeLab(GPU)
  const kernel_cache = told[3].cache
  again.session.handle({ ...start, kernel_cache })
  await again.session.idle
  expect(again.log[0]).toBe(`create ${JSON.stringify({ ...begun, ...fast })}`)
  expect(again.log.filter((line) => /measure|steer/.test(line))).toEqual([])
  expect(again.last('kernels')).toMatchObject({ kernels: `${FIRST}:fast`, cache: kernel_cache })
  expect(last('steered')).toMatchObject({ entry: { kind: 'kernels', step: 3 } })
})

test('a run that is steered to other kernels repeats one that began without them: it does so too, and measures nothing', async () => {
  const { session, log } = fakeLab(GPU)
  const entry = { kind: 'kernels', step: 3, kernels: `${FIRST}:vector_4x4` } as const
  session.handle({
    ...start,
    kernel_cache: JSON.stringify({ version: 'v1', matmul: { 'v/a/fake': fast } }),
    experiment: { ...experiment, steering: [entry] },
  })
  await session.idle
  expect(log[0]).toBe(`create ${JSON.stringify({ [FIRST]: 'plain', [SECOND]: 'plain' })}`)
  expect(log.filter((line) => line.startsWith('measure'))).toEqual([])
})

test('runs that take turns measure nothing', async () => {
  const { session, log, steps, until } = fakeLab(GPU)
  session.handle({ ...start, paused: true })
  for (let step = 1; step <= 3; step++) {
    session.handle({ type: 'turn' })
    await until(() => steps().includes(step))
  }
  session.handle({ type: 'stop' })
  await session.idle
  expect(log.filter((line) => line.startsWith('measure'))).toEqual([])
})

test('a software adapter keeps the default kernels, whatever is remembered', async () => {
  const { session, log, last } = fakeLab({ measured })
  const matmul = { 'v/a/': { [FIRST]: 'fast' } }
  session.handle({ ...start, kernel_cache: JSON.stringify({ version: 'v1', matmul }) })
  await session.idle
  expect(log[0]).toBe('create')
  expect(last('kernels')).toBeUndefined()
})

test('pinned kernels are used without measuring, on any adapter and whatever is remembered', async () => {
  for (const is_software of [false, true]) {
    const { session, log, last } = fakeLab({ is_software, measured })
    const remembered = { 'v/a/': { [FIRST]: 'fast', [SECOND]: 'fast' } }
    const kernel_cache = JSON.stringify({ version: 'v1', matmul: remembered })
    const pin = (kernels: string) => ({
      ...start,
      kernel_cache,
      experiment: { ...experiment, kernels },
    })
    session.handle(pin(`${FIRST}:vector_4x4`))
    await session.idle
    const matmul = { [FIRST]: 'vector_4x4' }
    expect(log[0]).toBe(`create ${JSON.stringify(matmul)}`)
    expect(log.filter((line) => /measure|steer/.test(line))).toEqual([])
    // Nothing to remember: the next run without a pin gets what it would have had.
    expect(last('kernels')).toEqual({
      type: 'kernels',
      run: 1,
      matmul,
      kernels: `${FIRST}:vector_4x4`,
    })
    const plain = fakeLab({ is_software, measured })
    plain.session.handle(pin('default'))
    await plain.session.idle
    expect(plain.log[0]).toBe('create')
    expect(plain.log.filter((line) => line.startsWith('measure'))).toEqual([])
    expect(plain.last('kernels')).toBeUndefined()
  }
})

test('a pinned kernel that the device cannot run ends the run before it begins, with the field and the way out', async () => {
  const { session, log, last } = fakeLab()
  session.handle({ ...start, experiment: { ...experiment, kernels: '*:subgroups_16x16' } })
  await session.idle
  const message = expect.stringMatching(
    /^kernels: \*:subgroups_16x16 needs subgroups.*Empty the field/,
  )
  expect(last('failed')).toMatchObject({ run: 1, error: { code: 'experiment', message } })
  expect(log).toEqual(['destroy'])
})

test('what cannot be measured is not, and the run goes to its end; after a lost device nothing is measured', async () => {
  const invalid = fakeLab({ ...GPU, measure_fails: true })
  invalid.session.handle(start)
  await invalid.session.idle
  expect(invalid.log.filter((line) => line.startsWith('measure'))).toHaveLength(1)
  expect(invalid.last('kernels_measured')).toBeUndefined()
  expect(invalid.statuses().at(-1)).toBe('finished')

  const lost = fakeLab({ ...GPU, hangAt: 2 })
  lost.session.handle(start)
  await lost.until(() => lost.log.includes('queue 2'))
  lost.lose(gpuError('lost', 'gone'))
  await lost.session.idle
  const after = lost.log.slice(lost.log.indexOf('destroy'))
  expect(after.filter((line) => /measure|steer/.test(line))).toEqual([])
  expect(after).toContain('create {"nt_m64_n32_k16":"plain","tn_m32_n16_k64":"plain"}')
  expect(lost.statuses().at(-1)).toBe('finished')
})
