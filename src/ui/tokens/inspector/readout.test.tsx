import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import type { Inspected } from '../base/inspect.ts'

vi.mock('../../touch/TokenWriting.tsx', () => ({ TokenWriting: () => <i>writing</i> }))
const { Readout } = await import('./Readout.tsx')

const traced = {
  prompt: '21>',
  response: '12',
  ground_truth: '12',
  score: 1,
  is_ended: true,
  tokens: ['1', '2'],
  columns: { old_log_probs: [-0.1, -0.2] },
  group: { rewards: [1], lengths: [2], place: 0 },
}

test('what wrote a token stands below the list and the numbers, as wide as both', () => {
  const told = { ...traced, traced, length: 2, place: 0 } as unknown as Inspected
  const html = renderToStaticMarkup(
    <Readout step={1} told={told} number="1 of 1" t={0} chosen={told} layerEntropy={undefined} />,
  )
  expect(html).toMatch(/^<div class="beside">.*<\/div><i>writing<\/i>$/s)
})
