// What a figure of lines says of a place, and of the ends of its lines.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import * as hooks from '../base/plot_hooks.ts'
import { LinesFigure } from './LinesFigure.tsx'

afterEach(() => vi.restoreAllMocks())

test('a value at the end of a line is that of its end, whatever place is marked', () => {
  vi.spyOn(hooks, 'useSize').mockReturnValue({
    ref: { current: null },
    size: { width: 900, height: 200 },
  })
  const line = { key: 'a', label: 'an arm', color: 'red', dash: [] }
  const figure = (start?: number) =>
    renderToStaticMarkup(
      <LinesFigure
        id="f"
        title="A figure"
        unit="step"
        owner={{ words: '', stem: 'f' }}
        lines={[{ ...line, at: [0, 1, 2], middle: [9, 7, 5], length: 3 }]}
        isShare={false}
        formatX={String}
        formatY={String}
        formatValue={String}
        start={start}
      />,
    )
  const end = /<tspan[^>]*> (\d)<\/tspan>/
  const listed = /<b>(\d)<\/b>/
  expect([end.exec(figure(1))?.[1], listed.exec(figure(1))?.[1]]).toEqual(['5', '7'])
  expect(figure(1)).toContain('data-inside')
  expect([end.exec(figure())?.[1], listed.exec(figure())?.[1]]).toEqual(['5', '5'])
  expect(figure()).not.toContain('data-inside')
  // What is read out at all times is named there.
  expect([figure(1), figure()].map((html) => html.includes('data-named'))).toEqual([true, false])
})
