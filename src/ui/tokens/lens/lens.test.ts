import { beforeEach, expect, test, vi } from 'vitest'
import type { LensSample } from '../../../host/protocol/observation.ts'
import { tokenWords } from '../../../host/protocol/token_text.ts'
import { applyEvent } from '../../../page/events/apply.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import {
  cellWords,
  entropyAtToken,
  largestChange,
  layersOf,
  lensCell,
  lensesSay,
  lensSummary,
  meanEntropies,
  nextChange,
  percent,
  points,
  rightAt,
  textKey,
} from './lens.ts'
import {
  lensItem,
  lensSteps,
  lensStore,
  lensTexts,
  lookAway,
  lookThrough,
  MAX_SENT,
  sentOf,
} from './store.ts'
import { lensFrom, observationOf, plainLens } from './testing.ts'

const lens = lensFrom(plainLens('21=', '12', { skill: 1 }))
const early = lensFrom(plainLens('21=', '12', { skill: 0.2 }))
const key = textKey(lens)

test('a cell says what its layer would say, and how likely the token that follows is', () => {
  expect(layersOf(lens)).toBe(4)
  const cell = lensCell(lens, 'raw', 2, 2)
  expect(cell?.top).toHaveLength(5)
  expect(cell?.top[0].token).toBe('1')
  expect(cell?.next).toEqual({ token: '1', prob: Math.fround(0.65) })
  expect(cell?.is_right).toBe(true)
  expect(cell?.entropy).toBe(lens.raw.entropy[2 * 4 + 2])
  expect(lensCell(lens, 'raw', 0, 2)?.is_right).toBe(false)
  expect(lensCell(lens, 'normed', 3, 2)?.next?.prob).toBeCloseTo(0.86, 5)
})

test('the last layer is the final policy, whichever way the others are read', () => {
  const last = lensCell(lens, 'raw', 3, 2)
  expect(last).toEqual(lensCell(lens, 'normed', 3, 2))
  expect(last?.entropy).toBe(lens.normed.entropy[2 * 4 + 3])
  const [raw, normed] = [meanEntropies(lens, 'raw'), meanEntropies(lens, 'normed')]
  expect(raw[3]).toBe(normed[3])
  expect(raw[2]).not.toBe(normed[2])
})

test('a mean over what was written is of the policies one place before it', () => {
  const entropy = lens.raw.entropy.map((_, i) => i)
  const counted = { ...lens, raw: { ...lens.raw, entropy } }
  expect(lens.tokens).toHaveLength(6)
  expect(meanEntropies(counted, 'raw', 2)[2]).toBe((3 * 4 + 2 + 4 * 4 + 2) / 2)
  expect(meanEntropies(counted, 'raw')[2]).toBe(2.5 * 4 + 2)
})

test('nothing follows the last position, and there are no cells outside', () => {
  const last = lensCell(lens, 'raw', 3, 5)
  expect([last?.next, last?.is_right]).toEqual([undefined, false])
  expect(lensCell(lens, 'raw', 4, 0)).toBeUndefined()
  expect(lensCell(lens, 'raw', 0, 6)).toBeUndefined()
  expect(lensCell(lens, 'raw', -1, 0)).toBeUndefined()
})

test('the entropy of a written token is at the position before it', () => {
  expect(entropyAtToken(lens, 'raw', 2, 0)).toBe(lens.raw.entropy[2 * 4 + 2])
  expect(entropyAtToken(lens, 'raw', 2, 2)).toBe(lens.raw.entropy[4 * 4 + 2])
  expect(entropyAtToken(lens, 'raw', 9, 0)).toBeUndefined()
})

test('two steps differ by the probability of the token that follows', () => {
  const [now, before] = [lens, early].map((one) => lensCell(one, 'raw', 3, 2))
  expect(nextChange(now, before)).toBeCloseTo(0.648, 5)
  expect(nextChange(now, undefined)).toBeUndefined()
  expect(nextChange(lensCell(lens, 'raw', 3, 5), lensCell(early, 'raw', 3, 5))).toBeUndefined()
  expect(largestChange(lens, early, 'raw')).toBeCloseTo(0.648, 5)
  expect(largestChange(lens, lens, 'raw')).toBe(0)
})

test('probabilities and changes are short, and never pretend to be nothing', () => {
  expect([0, 0.001, 0.004999, 0.5, 1].map(percent)).toEqual(['0', '<1', '<1', '50', '100'])
  expect([0.12, -0.12, 0, 0.001, -0.001].map(points)).toEqual(['+12', '−12', '0', '+<1', '−<1'])
})

test('the summary counts what layers find of the response, the end token included', () => {
  expect([0, 3].map((layer) => rightAt(lens, 'raw', layer))).toEqual([0, 3])
  const at = (layer: number) => rightAt(lens, 'raw', layer)
  expect(lensSummary(lens, 'raw')).toBe(
    `The model names 3 of 3 response tokens; layer 2 would name ${at(2)}, the embedding 0.`,
  )
  expect(lensesSay([lens, lens], 'raw')).toBe(
    `The model names 6 of 6 tokens of 2 held-out answers; layer 2 would name ${2 * at(2)}, the embedding 0.`,
  )
  expect(lensesSay([], 'raw')).toBe('')
  const cell = lensCell(lens, 'raw', 3, 4)
  expect(cell && cellWords(cell, tokenWords)).toContain('end 86.0\u00a0%, entropy')
})

const observed = (state: LabState, step: number, lenses: Parameters<typeof observationOf>[0]) =>
  applyEvent(state, { type: 'observed', run: 0, step, observation: observationOf(lenses) }, 0)

beforeEach(() => lensStore.setState(lensStore.getInitialState(), true))

test('a text is found at the newest kept step that looked at it, and not after the page’s step', () => {
  const sent = lensFrom(plainLens('3=', '3', { is_held_out: false }))
  let state = observed(initialState(), 0, [early])
  state = observed(state, 4, [lens, sent])
  state = observed(state, 6, [])
  const { kept } = state
  expect(lensItem(kept, key, undefined)?.item.step).toBe(4)
  expect(lensItem(kept, key, 3)?.lens).toBe(early)
  expect(lensItem(kept, textKey(sent), 3)).toBeUndefined()
  expect(lensSteps(kept, key)).toEqual([0, 4])
  const own = { sample: sent, since: 3, record: 'a', task: 'sort' }
  const texts = lensTexts(kept, [own], undefined, 'a')
  expect(texts.map(({ since }) => since)).toEqual([undefined, 3])
})

test('sent responses are looked at once each, the newest few of them, until they are let go', () => {
  const sample = (response: string): LensSample => ({ prompt: '1=', response, is_ended: true })
  const sent = ['a', 'b', 'c'].map((response) => ({
    sample: sample(response),
    since: 1,
    record: 'a',
    task: 'sort',
  }))
  lensStore.setState({ sent, chosen: textKey(sample('b')) })
  lookAway(textKey(sample('b')))
  expect(lensStore.getState().sent).toHaveLength(2)
  expect(lensStore.getState().chosen).toBeUndefined()
  expect(MAX_SENT).toBeGreaterThanOrEqual(2)
})

test('a text is looked at in runs of its own task alone, and is there again when its task is', () => {
  const sample = (prompt: string): LensSample => ({ prompt, response: '1', is_ended: true })
  vi.stubGlobal('location', { pathname: '/', search: '', hash: '' })
  vi.stubGlobal('history', { state: null, replaceState() {}, pushState() {} })
  lookThrough(sample('3+4='), 2, 'add_digits', 0)
  for (let i = 0; i <= MAX_SENT; i++) lookThrough(sample(`${i}1=`), 5, 'sort_digits', 0)
  vi.unstubAllGlobals()
  const prompts = (task: string) =>
    sentOf(lensStore.getState().sent, task).map((one) => one.sample.prompt)
  expect(prompts('add_digits')).toEqual(['3+4='])
  expect(prompts('sort_digits')).toEqual(['11=', '21=', '31=', '41='])
})

test('a new run begins with its first held-out text, and lists what it measures', () => {
  const sample: LensSample = { prompt: '3=', response: '3', is_ended: true }
  vi.stubGlobal('location', { pathname: '/', search: '', hash: '' })
  vi.stubGlobal('history', { state: null, replaceState() {}, pushState() {} })
  labStore.setState({ ...initialState(), record: 'a' })
  lookThrough(sample, 71, 'sort', 2)
  expect(lensStore.getState()).toMatchObject({ t: 2, position: undefined })
  expect(lensStore.getState().chosen).toBe(textKey(sample))
  const { sent } = lensStore.getState()
  const { kept } = observed(initialState(), 0, [lens])
  const listed = (of: typeof kept, record: string) =>
    lensTexts(of, sent, undefined, record).map(({ since, isOfOther }) => [since, isOfOther])
  expect(listed(kept, 'a')).toEqual([
    [undefined, false],
    [71, false],
  ])
  labStore.setState(({ run }) => ({ run: run + 1, record: 'b' }))
  expect(lensStore.getState()).toMatchObject({ chosen: undefined, t: 0 })
  expect(listed(kept, 'b')).toEqual([[undefined, false]])
  expect(listed(initialState().kept, '')).toEqual([])
  const measured = lensFrom(plainLens('3=', '3', { is_held_out: false }))
  const next = observed(initialState(), 4, [lens, measured])
  expect(listed(next.kept, 'b')).toEqual([
    [undefined, false],
    [71, true],
  ])
  // Sent again, it is of this run.
  lookThrough(sample, 6, 'sort', 0)
  vi.unstubAllGlobals()
  expect(lensStore.getState().sent).toMatchObject([{ since: 6, record: 'b' }])
})
