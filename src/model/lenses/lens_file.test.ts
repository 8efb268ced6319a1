import { expect, test } from 'vitest'
import { writeSafetensors } from '../../formats/safetensors_write.ts'
import { randomValues } from '../../kernels/testing.ts'
import { jacobianLens, type Lens, lensSize, translatorValues } from '../layout/translators.ts'
import { modelHash, readLensFile, writeLens } from './lens_file.ts'

const shape = { hidden_size: 5, num_hidden_layers: 2 }
const owner = { shape, hash: modelHash(randomValues(40, 1)) }

function tuned(): Lens {
  const lens = {
    readout: 'tuned' as const,
    hidden_size: 5,
    values: new Float32Array(lensSize(shape)),
  }
  for (const l of [0, 1]) {
    translatorValues(lens, l).residual.set(randomValues(25, 3 + l))
    translatorValues(lens, l).bias.set(randomValues(5, 5 + l))
  }
  return lens
}

test('a lens that was written is read to the bit', () => {
  const lens = tuned()
  expect(readLensFile(writeLens(lens, owner), 'lens', owner)).toEqual(lens)
  const jacobians = [7, 8].map((seed) => randomValues(25, seed))
  const read = readLensFile(writeLens(jacobianLens(5, jacobians), owner), 'lens', owner)
  expect(read.readout).toBe('jacobian')
  // 1 is taken off the diagonal and put back.
  for (const l of [0, 1]) {
    const { residual, bias } = translatorValues(read, l)
    residual.forEach((x, i) => {
      expect(x + (i % 6 === 0 ? 1 : 0)).toBeCloseTo(jacobians[l][i], 6)
    })
    expect([...bias]).toEqual([0, 0, 0, 0, 0])
  }
})

test('another model’s, another shape’s and a broken lens are refused by name', () => {
  const bytes = writeLens(tuned(), owner)
  const read =
    (given: Uint8Array, of = owner) =>
    () =>
      readLensFile(given, 'my.safetensors', of)
  expect(read(bytes, { shape, hash: modelHash(randomValues(40, 2)) })).toThrow(
    /my\.safetensors: expected a lens of this model \(weights \w{12}\), found one of another model/,
  )
  expect(read(bytes, { ...owner, shape: { ...shape, num_hidden_layers: 3 } })).toThrow(
    'expected translators of 3 layers, found 2; it was fitted on a model of another shape',
  )
  expect(read(bytes, { ...owner, shape: { ...shape, hidden_size: 6 } })).toThrow(
    'tensor layers.0.residual: expected [6, 6], found [5, 5]',
  )
  const broken = tuned()
  translatorValues(broken, 1).bias[3] = Number.NaN
  expect(read(writeLens(broken, owner))).toThrow(
    'tensor layers.1.bias, element 3: expected a finite number, found NaN',
  )
  const other = writeSafetensors([['layers.0.weight', { shape: [1], data: [1] }]])
  expect(read(other)).toThrow('expected a lens that the lab wrote')
})
