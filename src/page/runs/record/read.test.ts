import { expect, test } from 'vitest'
import { RUN_COLORS, type RunHeader } from '../../../record/run/record.ts'
import { memoryStorage, storageProblem } from '../../../record/run/storage.ts'
import { begun, recorderOn, stepEvent, told } from '../testing.ts'
import { readHeader, readRun, readSeries } from './read.ts'
import { MAX_NAME, parseTags, readLabels } from './read_labels.ts'

async function oneRun() {
  const storage = memoryStorage()
  const { recorder, settle } = recorderOn(storage)
  recorder.see(told(begun(1), stepEvent(1, 0), { type: 'status', run: 1, status: 'finished' }))
  await recorder.flush()
  await settle()
  const stored = await storage.read('run-1')
  if (!stored) throw new Error('nothing was stored')
  return { stored, header: stored.header as RunHeader }
}

test('a header that is not sound is refused with the place', async () => {
  const { header } = await oneRun()
  expect(readHeader(header)).toMatchObject({ ok: true })
  const broken: [unknown, RegExp][] = [
    [undefined, /no version/],
    [{ ...header, record_version: 2 }, /newer version/],
    [{ ...header, step: -1 }, /^step/],
    [{ ...header, status: 'asleep' }, /^status/],
    [{ ...header, document: { ...header.document, seed: 'x' } }, /^document\.seed/],
    [{ ...header, experiment: 7 }, /^experiment/],
    [{ ...header, phase: 99 }, /^phase/],
    [{ ...header, summaries: { a: 1 } }, /^summaries\.a/],
    [{ ...header, steered: [{ entry: { step: 1, kind: 'insert_phase' } }] }, /^steered/],
  ]
  for (const [value, why] of broken) {
    const read = readHeader(value)
    expect(read.ok ? 'sound' : read.why).toMatch(why)
  }
})

test('columns and items that are none are passed over', async () => {
  const { stored, header } = await oneRun()
  const column = (steps: number[]) => ({
    steps: Float64Array.from(steps),
    values: Float64Array.from(steps),
  })
  const series = readSeries([
    { columns: { a: column([0, 1]), b: { steps: [0], values: [0] } } },
    undefined,
    { columns: { a: column([1, 2]) } },
  ])
  expect([...series.keys()]).toEqual(['a'])
  expect(series.get('a')?.length).toBe(3)
  const items = [
    { kind: 'samples', step: 0, item: 'x' },
    { kind: 'observations', step: 0, item: {} },
    { kind: 'traces', step: 0, item: { samples: [] } },
    7,
  ]
  expect(readRun(header, { ...stored, items }, 1).unreadable).toBe(4)
})

test('labels that are not understood are as if nobody had said them', () => {
  expect(readLabels({ name: 3, notes: 'x', tags: 'x', pinned: 'yes', color: 999 }, 'a', 1)).toEqual(
    {
      id: 'a',
      name: '',
      notes: 'x',
      tags: [],
      color: 999 % RUN_COLORS.length,
      pinned: false,
      hidden: false,
      baseline: false,
    },
  )
})

test('a name is cut between characters', () => {
  expect(readLabels({ name: 'a\u202e\u0007b', notes: 'one\ntwo\u200b' }, 'a', 1)).toMatchObject({
    name: 'ab',
    notes: 'one\ntwo',
  })
  const { name } = readLabels({ name: `${'x'.repeat(MAX_NAME - 1)}🌲` }, 'a', 1)
  expect(name).toBe('x'.repeat(MAX_NAME - 1))
  expect(readLabels({ name: 'a\uDC00b' }, 'a', 1).name.isWellFormed()).toBe(true)
})

test('a past run ended as its record says', async () => {
  const { stored, header } = await oneRun()
  const shownAs = (said: Partial<RunHeader>) =>
    readRun({ ...header, ...said }, stored, 1).state.status
  expect(shownAs({ status: 'finished' })).toBe('finished')
  expect(shownAs({ status: 'failed' })).toBe('failed')
  expect(shownAs({ status: 'stopped' })).toBe('stopped')
  expect(shownAs({ status: 'stopped', was_left: true })).toBe('stopped')
  expect(shownAs({ status: 'running' })).toBe('stopped')
})

test('the error of a full storage says what to do', () => {
  const full = Object.assign(new Error('x'), { name: 'QuotaExceededError' })
  expect(storageProblem(full)).toMatch(/full.*Delete runs/)
  expect(storageProblem(new Error('broke'))).toMatch(/broke/)
})

test('every colour of a run has a dash of its own', () => {
  expect(new Set(RUN_COLORS.map(({ dash }) => dash.join())).size).toBe(RUN_COLORS.length)
})

test('tags are told apart by commas of either script', () => {
  expect(parseTags('a, b，c、d')).toEqual(['a', 'b', 'c', 'd'])
})
