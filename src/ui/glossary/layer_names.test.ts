import { expect, test } from 'vitest'
import {
  lastStateSays,
  layerName,
  shortLayerName,
  stateLabel,
  stateName,
  theLayer,
} from './layer_names.ts'

const of = (name: (layer: number, last: number) => string) => [0, 1, 3].map((at) => name(at, 3))

test('a layer has one long name and one short one', () => {
  expect(of(layerName)).toEqual(['embedding', 'layer 1', 'final policy'])
  expect(of(theLayer)).toEqual(['the embedding', 'layer 1', 'the final policy'])
  expect(of(shortLayerName)).toEqual(['emb', '1', 'final'])
})

test('the last block or state is no policy, and has its number', () => {
  expect([0, 1, 3].map((layer) => shortLayerName(layer))).toEqual(['emb', '1', '3'])
  expect([0, 1, 3].map(stateName)).toEqual(['the embedding', 'layer 1', 'layer 3'])
  expect([0, 1, 3].map(stateLabel)).toEqual(['embedding', 'layer 1', 'layer 3'])
  // Whose policy it is, is said beside.
  expect(lastStateSays(3)).toContain('final policy is read from the state after layer 3')
})
