// Lenses of files: a phase reads its layer through them as they are, a run of another model refuses
// them, and so is what is no such lens.
import { expect, test } from 'vitest'
import { modelShape } from '../../model/layout/config.ts'
import {
  jacobianLens,
  type Lens,
  lensSize,
  translatorValues,
} from '../../model/layout/translators.ts'
import { modelHash, writeLens } from '../../model/lenses/lens_file.ts'
import { knowFile } from '../config/begun_files.ts'
import type { LensFiles } from '../config/lens_settings.ts'
import { CONFIG } from '../testing.ts'
import { checkLenses } from './begin_lenses.ts'
import { finish, INNER, only, rl, warmStart } from './testing.ts'
import { Trainer } from './trainer.ts'

const { WARM, shared } = await warmStart()
const shape = modelShape(CONFIG.model)
const { hidden_size: C, num_hidden_layers: L } = shape

const tuned: Lens = {
  readout: 'tuned',
  hidden_size: C,
  values: new Float32Array(lensSize(shape)),
}
for (let l = 0; l < L; l++) {
  const { residual, bias } = translatorValues(tuned, l)
  residual.forEach((_, i) => {
    residual[i] = 0.01 * Math.sin(i + l)
  })
  bias.forEach((_, i) => {
    bias[i] = 0.1 * Math.cos(i + l)
  })
}
const jacobian = jacobianLens(
  C,
  Array.from({ length: L }, (_, l) =>
    Float32Array.from({ length: C * C }, (_x, i) => Number(i % (C + 1) === 0) + 0.01 * (l + 1)),
  ),
)

let files = 0
/** Makes the file of a lens known under a hash of its own. */
function known(lens: Lens, hash = modelHash(WARM)): string {
  const own = `sha256-${++files}`
  const bytes = writeLens(lens, { shape, hash })
  knowFile({ hash: own, name: `${lens.readout}.safetensors`, bytes })
  return own
}

/** Reads layer 2 through a tuned lens, then layer 1 through a Jacobian one. */
async function begun(lensFiles: LensFiles) {
  const phases = [
    rl({ ...INNER, target_readout: 'tuned' }),
    rl({ ...INNER, target_layer: 1, target_readout: 'jacobian' }),
  ]
  const trainer = await Trainer.create(shared, { ...only(...phases), lensFiles })
  trainer.importWeights(WARM)
  return trainer
}

const translator = ({ values }: Lens, layer: number) =>
  values.slice((layer * values.length) / L, ((layer + 1) * values.length) / L)

test('phases read layers through the lenses of files, and fit those that no file gives', async () => {
  for (const isGiven of [true, false]) {
    const trainer = await begun({
      tuned: known(tuned),
      ...(isGiven && { jacobian: known(jacobian) }),
    })
    await checkLenses(trainer)
    await trainer.next()
    const first = await trainer.next()
    expect(first.metrics['lens/kl_after']).not.toBe(first.metrics['lens/kl_before'])
    expect((await trainer.exportState()).lens).toEqual([
      { layer: 2, readout: 'tuned', values: translator(tuned, 2) },
    ])
    await finish(trainer)
    const [last] = (await trainer.exportState()).lens ?? []
    expect(last).toMatchObject({ layer: 1, readout: 'jacobian' })
    if (isGiven) expect(last.values).toEqual(translator(jacobian, 1))
    else expect(last.values).not.toEqual(translator(jacobian, 1))
    shared.freeAll()
  }
})

test('a state remembers which model its lenses are of, and others are refused where it continues', async () => {
  const before = await begun({ tuned: known(tuned) })
  await checkLenses(before)
  await before.next()
  await before.next()
  const state = await before.exportState()
  expect(state.begun_with).toBe(modelHash(WARM))
  const continued = await begun({ tuned: known(tuned), jacobian: known(jacobian) })
  continued.importState(state)
  expect((await continued.exportState()).begun_with).toBe(modelHash(WARM))
  const other = await begun({ jacobian: known(jacobian, 'sha256-0') })
  expect(() => other.importState(state)).toThrow('expected a lens of this model')
  shared.freeAll()
})

test('a lens of another model, of the other kind, or that is not here is refused before the first step', async () => {
  const refused = async (named: LensFiles) => checkLenses(await begun(named))
  await expect(refused({ tuned: known(tuned, 'sha256-0') })).rejects.toThrow(
    'expected a lens of this model',
  )
  await expect(refused({ tuned: known(jacobian) })).rejects.toThrow(
    'model.lenses.tuned: expected the file of a tuned lens, found jacobian.safetensors, which is a jacobian lens',
  )
  await expect(refused({ jacobian: 'sha256-none' })).rejects.toThrow('is not here')
  const broken = { ...tuned, values: tuned.values.with(7, Number.NaN) }
  await expect(refused({ tuned: known(broken) })).rejects.toThrow('expected a finite number')
  shared.freeAll()
})
