import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepWritten, TEXT_MS, useTextPace } from './readout.ts'
import { uiStore } from './store.ts'

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

test('a zoom writes at once: values are of its end', () => {
  redraw()
  redraw()
  uiStore.setState({ zoom: { low: 1, high: 2 } })
  expect(written).toEqual([0, 1, 2])
  uiStore.setState({ zoom: undefined })
})

test('what ended is not written again', () => {
  stops.pop()?.()
  redraw()
  vi.advanceTimersByTime(2 * TEXT_MS)
  expect(written).toEqual([0])
})

/** How often what follows the pace has been rendered. */
const pace = () => Number(renderToStaticMarkup(createElement(() => useTextPace())))

test('what renders with the words does not render with every redraw, nor when the pointer moves', () => {
  const before = pace()
  for (let i = 0; i < 10; i++) {
    redraw()
    vi.advanceTimersByTime(TEXT_MS / 10)
  }
  expect(pace() - before).toBe(1)
  uiStore.setState({ hoverStep: 1 })
  expect(pace() - before).toBe(2)
  uiStore.setState({ hoverStep: 2 })
  expect(pace() - before).toBe(2)
  uiStore.setState({ atStep: 3 })
  expect(pace() - before).toBe(3)
  uiStore.setState({ atStep: undefined })
})
