import { expect, test } from 'vitest'
import { suggestedLayer as layerAbove } from './suggested_layer.ts'

const suggestedLayer = (changes: readonly number[], threshold = 0.05) =>
  layerAbove(changes, threshold)

/** Measured after warm starts of six layers, 26 tokens. */
const ADDITION = [0.413, 0.789, 0.644, 0.14, 0.509, -0.263]
const ADDITION_LATER = [0.46, 0.786, 0.596, 0.001, -0.015, -0.257]
const TWO_SKILLS = [0.723, -0.384, -0.283, 0.267, 0.173, -0.502]

test('the last layer whose feed-forward raises the entropy, as far as the threshold says', () => {
  expect(suggestedLayer(ADDITION).layer).toBe(5)
  expect(suggestedLayer(ADDITION_LATER).layer).toBe(3)
  expect(suggestedLayer(ADDITION_LATER, 0).layer).toBe(4)
  expect(suggestedLayer(ADDITION, 0.6).layer).toBe(3)
  expect(suggestedLayer(TWO_SKILLS).layer).toBe(5)
  expect(suggestedLayer(TWO_SKILLS, 0.5).layer).toBe(1)
})

test('the pattern of Qwen3-4B: layers 1 to 6 above zero, 7 to 26 about zero, then below', () => {
  const pattern = Array.from({ length: 36 }, (_, l) =>
    l < 6 ? 1.5 : l < 26 ? 0.02 * (-1) ** l : -3,
  )
  expect(suggestedLayer(pattern).layer).toBe(6)
})

test('a last layer that raises it, too, gives the one below; none gives none', () => {
  expect(suggestedLayer([0.1, 0.2, 0.2]).layer).toBe(2)
  expect(suggestedLayer([-0.1, 0.02, 0]).layer).toBeUndefined()
  expect(suggestedLayer([-0.1, 0.05, 0]).layer).toBeUndefined()
})

test('it says why, and what speaks against it', () => {
  expect(suggestedLayer(ADDITION).why).toBe(
    'Layer 5 is the last whose feed-forward raises the entropy (+0.509 nats); that of layer 6 changes it by −0.263 nats.',
  )
  expect(suggestedLayer(TWO_SKILLS).why).toContain(
    'Below it some do not raise it by more than 0.05 nats (layer 2 changes it by −0.384, layer 3 changes it by −0.283)',
  )
  // A rise below the threshold is told as one.
  expect(suggestedLayer([0.047, 0.607, -0.574]).why).toContain('(layer 1 changes it by +0.047)')
  expect(suggestedLayer([0, 0]).why).toMatch(/more than 0.05 nats/)
})

test('what is no measurement is refused', () => {
  expect(() => suggestedLayer([0.3])).toThrow(/at least 2 layers, got 1/)
  expect(() => suggestedLayer([0.3, Number.NaN])).toThrow(/got NaN for layer 2/)
  expect(() => suggestedLayer([0.3, 0.1], -1)).toThrow(/at least 0 nats, got -1/)
})
