import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { uiStore } from '../shown/store.ts'
import { keepWritten, TEXT_MS, writeText } from './live_text.ts'

const redraw = () => uiStore.setState(({ frame }) => ({ frame: frame + 1 }))
const written: number[] = []
const stops: (() => void)[] = []
const keep = () => stops.push(keepWritten(() => written.push(uiStore.getState().frame)))

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  uiStore.setState({ frame: 0, hoverStep: undefined })
  written.length = 0
  keep()
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  vi.useRealTimers()
})

test('redraws in quick succession write once, and the last of them is written without another', () => {
  for (let i = 0; i < 3; i++) {
    redraw()
    vi.advanceTimersByTime(10)
  }
  expect(written).toEqual([0, 1])
  vi.advanceTimersByTime(2 * TEXT_MS)
  expect(written).toEqual([0, 1, 3])
})

test('redraws at a distance are written with the redraw itself', () => {
  for (let i = 0; i < 3; i++) {
    redraw()
    vi.advanceTimersByTime(TEXT_MS)
  }
  expect(written).toEqual([0, 1, 2, 3])
})

test('another step is read out at once', () => {
  redraw()
  redraw()
  uiStore.setState({ hoverStep: 7 })
  expect(written).toEqual([0, 1, 2])
})

test('what ended is not written again', () => {
  stops.pop()?.()
  redraw()
  vi.advanceTimersByTime(2 * TEXT_MS)
  expect(written).toEqual([0])
})

test('a text changes in its node, and becomes the only one where others were', () => {
  const node = { nodeType: 3, nodeValue: '1' }
  const childNodes: unknown[] = [node]
  const element = {
    childNodes,
    get firstChild() {
      return childNodes[0] ?? null
    },
    set textContent(nodeValue: string) {
      childNodes.splice(0, childNodes.length, { nodeType: 3, nodeValue })
    },
  }
  writeText(element as unknown as Element, '2')
  expect(childNodes).toEqual([{ nodeType: 3, nodeValue: '2' }])
  expect(childNodes[0]).toBe(node)
  childNodes.push({ nodeType: 1 })
  writeText(element as unknown as Element, '3')
  expect(childNodes).toEqual([{ nodeType: 3, nodeValue: '3' }])
})
