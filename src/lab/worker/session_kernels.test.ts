// Which kernels a run has: measured, remembered, pinned or default ones.
import { expect, test } from 'vitest'
import type { GpuError } from '../../kernels/device/errors.ts'
import type { MatmulChoice } from '../protocol/results.ts'
import { FIRST, SECOND } from '../protocol/testing.ts'
import { fakeLab, start } from '../testing.ts'
import { gpuError } from './testing.ts'

const { experiment } = start

test('a first run measures, says so, and the same run then gets the same kernels without measuring', async () => {
  const lab = { is_software: false, tune: async () => ({ [FIRST]: 'fast' }) }
  const { session, events, log, last } = fakeLab(lab)
  session.handle(start)
  await session.idle
  // The class that was left open is settled as the default.
  const matmul = { [FIRST]: 'fast', [SECOND]: 'plain' }
  expect(log[0]).toBe('tune without {}')
  expect(log[1]).toBe(`create ${JSON.stringify(matmul)}`)
  expect(events).toContainEqual({
    type: 'progress',
    run: 1,
    message: 'Measuring matrix products',
  })
  const said = last('kernels')
  expect(said).toMatchObject({ run: 1, matmul, kernels: `${FIRST}:fast` })
  const again = fakeLab({ ...lab, tune: async () => ({ [FIRST]: 'plain', [SECOND]: 'fast' }) })
  again.session.handle({
    ...start,
    kernel_cache: said?.type === 'kernels' ? said.cache : undefined,
  })
  await again.session.idle
  expect(again.log[0]).toBe(`create ${JSON.stringify(matmul)}`)
  expect(again.last('kernels')).toEqual(said)
})

test('a software adapter keeps the default kernels, whatever is remembered', async () => {
  const { session, log, last } = fakeLab()
  const matmul = { 'v/a/': { [FIRST]: 'fast' } }
  session.handle({ ...start, kernel_cache: JSON.stringify({ version: 'v1', matmul }) })
  await session.idle
  expect(log[0]).toBe('create')
  expect(last('kernels')).toBeUndefined()
})

test('pinned kernels are used without measuring, on any adapter and whatever is remembered', async () => {
  for (const is_software of [false, true]) {
    const { session, log, last } = fakeLab({ is_software })
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
    // Nothing to remember: the next run without a pin gets what it would have had.
    expect(last('kernels')).toEqual({
      type: 'kernels',
      run: 1,
      matmul,
      kernels: `${FIRST}:vector_4x4`,
    })
    const plain = fakeLab({ is_software })
    plain.session.handle(pin('default'))
    await plain.session.idle
    expect(plain.log[0]).toBe('create')
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

test('a run that is stopped while it measures goes no further and is freed', async () => {
  let finish: (choice: MatmulChoice) => void = () => {}
  const tune = () => new Promise<MatmulChoice>((resolve) => (finish = resolve))
  const { session, log, last, until } = fakeLab({ is_software: false, tune })
  session.handle(start)
  await until(() => log.length > 0)
  session.handle({ type: 'stop' })
  finish({ [FIRST]: 'fast' })
  await session.idle
  expect(log).toEqual(['tune without {}', 'free'])
  expect(last('kernels')).toBeUndefined()
})

test('what cannot be measured runs on the default kernels; a lost device does not', async () => {
  const broken = (code: GpuError['code']) =>
    fakeLab({
      is_software: false,
      tune: async () => {
        throw gpuError(code, 'no')
      },
    })
  const invalid = broken('validation')
  invalid.session.handle(start)
  await invalid.session.idle
  expect(invalid.last('kernels')).toMatchObject({
    matmul: { [FIRST]: 'plain', [SECOND]: 'plain' },
    kernels: 'default',
  })
  expect(invalid.statuses().at(-1)).toBe('finished')
  const lost = broken('lost')
  lost.session.handle(start)
  await lost.until(() => lost.statuses().at(-1) === 'paused')
  expect(lost.last('lost')).toMatchObject({ is_waiting: true })
  expect(lost.log).toEqual(['tune without {}', 'destroy', 'tune without {}', 'destroy'])
})
