import { expect, test } from 'vitest'
import { depthColor, HEAT_RAMP, oklchToRgb, type Rgb } from '../../scales/palette.ts'
import { columnsOf, recordingContext } from '../../shown/testing.ts'
import { drawEdits, drawMarks, hatchReached, heatmapPixels, rowAt, typicalGap } from './heat.ts'

const ramp: readonly Rgb[] = [
  [0, 0, 0],
  [100, 100, 100],
  [200, 200, 200],
]
/** [red, alpha] of a pixel. */
const at = (pixels: Uint8ClampedArray, width: number, x: number, y: number) => [
  pixels[(y * width + x) * 4],
  pixels[(y * width + x) * 4 + 3],
]

test('row 0 is at the bottom and the last layer on top', () => {
  const size = { width: 1, x: [0, 1] } as const
  const pixels = heatmapPixels([columnsOf([0]), columnsOf([1]), columnsOf([2])], size, 2, ramp)
  expect([0, 1, 2].map((y) => at(pixels, 1, 0, y)[0])).toEqual([200, 100, 0])
})

test('a measurement is in the middle of its colour, up to half-way to the next one', () => {
  const columns = { steps: [0, 5], values: [0, 2], length: 2 }
  const pixels = heatmapPixels([columns], { width: 10, x: [0, 10] }, 2, ramp)
  const reds = Array.from({ length: 10 }, (_, x) => at(pixels, 10, x, 0)[0])
  expect(reds).toEqual([0, 0, 0, 200, 200, 200, 200, 200, 0, 0])
})

test('nothing is painted of steps that a run has not reached', () => {
  const columns = { steps: [0, 5], values: [1, 2], length: 2 }
  const painted = (reached: number, of = columns) => {
    const pixels = heatmapPixels([of], { width: 20, x: [0, 20], reached }, 2, ramp)
    return Array.from({ length: 20 }, (_, x) => x).filter((x) => at(pixels, 20, x, 0)[1] > 0).length
  }
  // The newest of one in five steps ends where the run is, and at most half-way to the next.
  expect([5, 6, 7, 9].map((reached) => painted(reached))).toEqual([6, 6, 7, 8])
  expect(painted(2, { steps: [0, 1, 2], values: [1, 1, 1], length: 3 })).toBe(3)
})

test('the newest step at the end of the axis has a colour', () => {
  const pixels = heatmapPixels(
    [columnsOf([0, 0, 2])],
    { width: 20, x: [0, 2], reached: 2 },
    2,
    ramp,
  )
  const reds = Array.from({ length: 20 }, (_, x) => at(pixels, 20, x, 0)[0])
  expect(reds).toEqual([...Array(15).fill(0), ...Array(5).fill(200)])
})

test('what was not measured for long is left to the hatching', () => {
  const columns = { steps: [0, 1, 2, 12], values: [0, 2, 2, 1], length: 4 }
  const size = { width: 120, x: [0, 12], heldSteps: typicalGap(columns) } as const
  const pixels = heatmapPixels([columns], size, 2, ramp)
  const filled = Array.from({ length: 120 }, (_, x) => x).filter((x) => at(pixels, 120, x, 0)[1])
  // Ten pixels a step: three steps, then nothing, and the newest at the end.
  expect(filled.filter((x) => x < 26)).toHaveLength(26)
  expect(filled.filter((x) => x >= 26 && x < 114)).toEqual([])
  expect(filled.filter((x) => x >= 114)).toHaveLength(6)
  expect(at(pixels, 120, 119, 0)[0]).toBe(100)
  // One moment at the end of the axis is seen too.
  const one = { steps: [12], values: [2], length: 1 }
  const alone = heatmapPixels([one], { ...size, heldSteps: typicalGap(one) }, 2, ramp)
  expect([113, 114, 119].map((x) => at(alone, 120, x, 0)[1])).toEqual([0, 255, 255])
  expect(typicalGap({ steps: [7], values: [1], length: 1 })).toBe(1)
})

test('of thousands of steps a column of pixels shows the one in its middle', () => {
  const values = Array.from({ length: 5000 }, (_, i) => (i % 50 === 25 ? ((i / 50) % 3) | 0 : 9))
  const pixels = heatmapPixels([columnsOf(values)], { width: 100, x: [0, 5000] }, 2, ramp)
  const reds = Array.from({ length: 100 }, (_, x) => at(pixels, 100, x, 0)[0])
  expect(reds).toEqual(Array.from({ length: 100 }, (_, x) => 100 * (x % 3)))
})

test('what was not measured stays transparent: before the first, after the newest, NaN, no columns', () => {
  const columns = { steps: [2, 3, 4], values: [1, Number.NaN, 1], length: 3 }
  const pixels = heatmapPixels([undefined, columns], { width: 8, x: [0, 8] }, 2, ramp)
  const alphas = Array.from({ length: 8 }, (_, x) => at(pixels, 8, x, 0)[1])
  expect(alphas).toEqual([0, 0, 255, 0, 255, 0, 0, 0])
  expect(at(pixels, 8, 3, 1)).toEqual([0, 0])
})

test('values beyond the scale take the end colours', () => {
  const pixels = heatmapPixels([columnsOf([-3, 9])], { width: 2, x: [0, 2] }, 2, ramp)
  expect([at(pixels, 2, 0, 0)[0], at(pixels, 2, 1, 0)[0]]).toEqual([0, 200])
})

test('only the first row takes the other ramp', () => {
  const greys: readonly Rgb[] = ramp.map(([red]) => [red + 1, 0, 0])
  const size = { width: 1, x: [0, 1] } as const
  const pixels = heatmapPixels([columnsOf([2]), columnsOf([2])], size, 2, ramp, greys)
  expect([0, 1].map((y) => at(pixels, 1, 0, y)[0])).toEqual([200, 201])
})

test('an axis that begins later begins with the measurement nearest to it', () => {
  const columns = { steps: [0, 6], values: [0, 2], length: 2 }
  const pixels = heatmapPixels([columns], { width: 5, x: [2, 7] }, 2, ramp)
  expect([0, 1, 2, 3, 4].map((x) => at(pixels, 5, x, 0)[0])).toEqual([0, 200, 200, 200, 200])
})

test('phase switches are marked inside the axis, not on its ends', () => {
  const { ctx, calls } = recordingContext()
  drawMarks(ctx, [0, 5, 10], { x: [0, 10], y: [0, 1], width: 100, height: 40 })
  expect(calls.filter((call) => call.startsWith('moveTo'))).toEqual([
    'moveTo 50.5 0',
    'moveTo 50.5 0',
  ])
})

test('marks that end left of what is painted again are not drawn', () => {
  const view = { x: [0, 10], y: [0, 1], width: 100, height: 40 } as const
  const strokesFrom = (from?: number) => {
    const { ctx, calls } = recordingContext()
    drawMarks(ctx, [3, 5, 7], view, from)
    return calls.filter((call) => call.startsWith('moveTo'))
  }
  const all = strokesFrom()
  expect(all).toHaveLength(6)
  expect(strokesFrom(50)).toEqual(all.slice(2))
  expect(strokesFrom(52)).toEqual(all.slice(4))
})

test('an edit is dotted, unlike a phase, and has its words where there is room', () => {
  const { ctx, calls } = recordingContext()
  const words: unknown[][] = []
  const own = {
    ...ctx,
    font: '',
    textAlign: 'left' as CanvasTextAlign,
    measureText: () => ({ width: 50 }) as TextMetrics,
    fillText: (...text: unknown[]) => words.push([...text, own.textAlign]),
  }
  const view = { x: [0, 100], y: [0, 1], width: 400, height: 40 } as const
  drawEdits(
    own,
    [
      { step: 10, words: 'lr 0.001' },
      { step: 95, words: 'phase repeated' },
      { step: 100, words: 'past the end' },
    ],
    view,
  )
  expect(words.map(([text, x, , align]) => [text, x, align])).toEqual([
    ['lr 0.001', 46.5, 'left'],
    ['✎', 386.5, 'left'],
  ])
  expect(calls).toContain('setLineDash [1,3]')
  expect(calls.filter((call) => call.startsWith('moveTo'))).toHaveLength(4)
})

test('the pointer finds the layer under it', () => {
  expect([0, 49, 51, 100].map((y) => rowAt(y, 100, 2))).toEqual([1, 1, 0, 0])
})

test('OKLCH black, white and middle grey become their sRGB', () => {
  expect(oklchToRgb([0, 0, 0])).toEqual([0, 0, 0])
  expect(oklchToRgb([1, 0, 0])).toEqual([255, 255, 255])
  expect(oklchToRgb([0.5999, 0, 0])).toEqual([128, 128, 128])
})

test('both scales run in one direction of brightness, so that they read in grey', () => {
  const luminance = ([r, g, b]: Rgb) => 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2
  // As in the forest: what is sure is bright.
  const falling = HEAT_RAMP.map(luminance)
  expect(falling).toEqual(falling.toSorted((a, b) => b - a))
  const parsed = (dark: boolean) =>
    Array.from({ length: 6 }, (_, layer) =>
      luminance(depthColor(layer, 5, dark).match(/\d+/g)?.map(Number) as unknown as Rgb),
    )
  expect(parsed(true)).toEqual(parsed(true).toSorted((a, b) => a - b))
  expect(parsed(false)).toEqual(parsed(false).toSorted((a, b) => b - a))
})

test('what was not measured is hatched up to where the run is, also where only the end is painted', () => {
  const view = { x: [0, 10], y: [0, 1], width: 100, height: 30 } as const
  const xs = (from?: number) => {
    const { ctx, calls } = recordingContext()
    hatchReached(ctx, view, 5, from)
    return calls.flatMap((call) => {
      const [name, x, y] = call.split(' ')
      return /To$/.test(name) ? [{ x: Number(x), y: Number(y) }] : []
    })
  }
  const whole = xs()
  expect(Math.max(...whole.map(({ x }) => x))).toBe(50)
  expect(Math.min(...whole.map(({ x }) => x))).toBe(0)
  expect(whole.every(({ y }) => y >= 0 && y <= 30)).toBe(true)
  // The lines of a part continue those of the whole.
  const sums = new Set(whole.map(({ x, y }) => x + y))
  const end = xs(33)
  expect(end.length).toBeGreaterThan(0)
  expect(end.every(({ x, y }) => x >= 33 && sums.has(x + y))).toBe(true)
})
