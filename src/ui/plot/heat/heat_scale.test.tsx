import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { HeatScale } from './HeatMap.tsx'

test('the scale of a map says what its two ends mean', () => {
  const text = renderToStaticMarkup(<HeatScale max={3} saysLeast />).replace(/<[^>]*>/g, '|')
  expect(text).toMatch(/0, certain.*3 nats/)
})
