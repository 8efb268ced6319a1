import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test } from 'vitest'
import { appendMetrics, type Series } from '../../../host/columns/series.ts'
import { initialState, labStore } from '../../../page/state/store.ts'
import { EntropyMap } from './EntropyMap.tsx'

afterEach(() => labStore.setState(initialState(), true))

test('the colours of an entropy map tell layers apart below a far embedding', () => {
  const scaleOf = (embedding: number) => {
    const series = new Map<string, Series>()
    const { num_hidden_layers } = initialState().experiment.model
    const layers = Array.from({ length: num_hidden_layers }, (_, l) => [
      `layer/entropy/${l + 1}`,
      0.5,
    ])
    appendMetrics(series, 1, { 'layer/entropy/0': embedding, ...Object.fromEntries(layers) })
    labStore.setState({ ...initialState(), series, step: 1 })
    const markup = renderToStaticMarkup(<EntropyMap height={100} />)
    return /heat-ramp.*?<span>(.*?)<\/span>/.exec(markup)?.[1]
  }
  expect(scaleOf(6.64)).toBe('0.5 nats and more')
  expect(scaleOf(1.2)).toBe('1.2 nats')
})
