import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { fileOf } from '../../host/checkpoints/storage/places.ts'
import { TINY } from '../../host/checkpoints/testing.ts'
import { modelHash, readLensFile } from '../../model/lenses/lens_file.ts'
import type { ReadLayer } from '../../model/lenses/read_layers.ts'
import { train } from '../train/train.ts'
import { lensCommand } from './lens.ts'
import { linearProbeCommand } from './linear_probe.ts'
import { patchCommand } from './patch.ts'
import { steerCommand } from './steer.ts'
import { readTouchable } from './touchable.ts'
import { transplantCommand } from './transplant.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-transplant-'))
afterAll(() => rmSync(root, { recursive: true }))

async function trained(
  name: string,
  steps: number,
  model: object = {},
  task: object = TINY.task,
): Promise<string> {
  const optim = { lr: 0.02, lr_warmup_steps: 2 }
  const phases = [{ kind: 'sft', steps, batch_size: 64, optim }]
  const validation = { test_freq: null, prompts: 8, n: 0 }
  const document = { ...TINY, task, model: { ...TINY.model, ...model }, phases, validation }
  const [file, out] = [join(root, `${name}.json`), join(root, name)]
  writeFileSync(file, JSON.stringify(document))
  await train.run([file, '--out', out, '--checkpoint-every', '30'])
  return out
}

// It trains a run of 90 steps; model/interventions/transplant.test.ts has the exchange itself.
test.skipIf(!process.env.LONG_TESTS)(
  'parts of two checkpoints are exchanged both ways round, and everything gives the other’s accuracy',
  async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const run = await trained('run', 90)
    const early = join(run, 'checkpoints', fileOf(30))
    const out = join(root, 'transplants.json')
    log.mockClear()
    expect(await transplantCommand.run([early, run, '--problems', '50', '--out', out])).toBe(0)
    const printed = log.mock.calls.flat().join('\n')
    const { transplants } = JSON.parse(readFileSync(out, 'utf8'))
    const [there, back] = transplants
    expect(there.host).toBe(`${early} (step 30)`)
    expect(there.donor).toBe(`${run} (step 90)`)
    expect(back).toMatchObject({ host: there.donor, donor: there.host })
    // All that the task holds out.
    expect(there.problems).toBe(20)
    expect(there.accuracy.donor).not.toBe(there.accuracy.host)
    for (const { accuracy, mixtures } of transplants) {
      const names = mixtures.map(({ name }: { name: string }) => name)
      expect(names).toEqual([
        'block 1',
        'block 2',
        'attention 1',
        'attention 2',
        'feed_forward 1',
        'feed_forward 2',
        'blocks up to 1',
        'blocks up to 2',
        'norm',
        'embedding',
        'everything',
      ])
      expect(mixtures.at(-1).accuracy).toBe(accuracy.donor)
      expect(mixtures.at(-1).change).toBeCloseTo(accuracy.donor - accuracy.host, 12)
      expect(mixtures[0]).toEqual({ ...mixtures[6], name: 'block 1' })
    }
    expect(printed).toContain('20 held-out problems')
    expect(printed).toMatch(/attention 1 +\d+\.\d % {2}[+−]\d+\.\d % ± \d+\.\d %/)

    // The same run also says where its answers travel.
    const patched = join(root, 'patched.json')
    log.mockClear()
    expect(await patchCommand.run([run, '--pairs', '3', '--out', patched])).toBe(0)
    const { patching, texts } = JSON.parse(readFileSync(patched, 'utf8'))
    expect(patching.pairs.length).toBeGreaterThan(0)
    expect(texts[patching.pairs[0].answer]).not.toBe(texts[patching.pairs[0].wrong])
    expect(patching.places).toHaveLength(1 + 2 * (3 + TINY.model.num_attention_heads))
    const last = patching.places.findLast(({ where }: { where: string }) => where === 'residual')
    expect(last.recovery.at(-1)).toBeCloseTo(1, 4)
    expect(log.mock.calls.flat().join('\n')).toMatch(/residual 2 +( +-?\d+)+ +100\n/)
    await expect(patchCommand.run([run, '--clean', '1'])).rejects.toThrow('both texts or neither')
    await expect(patchCommand.run([run, '--clean', '1', '--corrupted', '12'])).rejects.toThrow(
      'two texts of as many tokens',
    )

    // And is read in other ways.
    const lenses = join(root, 'lenses')
    log.mockClear()
    const few = ['--texts', '24', '--held-out', '8', '--steps', '40', '--skip-first', '1']
    expect(await lensCommand.run([run, ...few, '--out', lenses])).toBe(0)
    const { layers, tokens } = JSON.parse(readFileSync(join(lenses, 'readings.json'), 'utf8'))
    const kl = (layer: number, readout: string): number =>
      layers.find((one: ReadLayer) => one.layer === layer && one.readout === readout).kl
    for (const layer of [0, 1]) {
      expect(kl(layer, 'tuned')).toBeLessThan(0.8 * kl(layer, 'normed'))
      for (const readout of ['raw', 'jacobian']) expect(kl(layer, readout)).toBeGreaterThan(0)
    }
    expect(Math.abs(kl(2, 'normed'))).toBeLessThan(1e-5)
    expect(tokens.fitted).toBeGreaterThan(tokens.held_out)
    expect(log.mock.calls.flat().join('\n')).toMatch(/layer 1 +(\d+\.\d{4} *){4}\n/)
    const model = await readTouchable(run, undefined)
    const owner = { shape: model.layout.shape, hash: modelHash(model.weights) }
    for (const name of ['tuned', 'jacobian']) {
      const bytes = new Uint8Array(readFileSync(join(lenses, `${name}.safetensors`)))
      expect(readLensFile(bytes, name, owner).values.some((x) => x !== 0)).toBe(true)
      const { weights } = await readTouchable(early, undefined)
      expect(() => readLensFile(bytes, name, { ...owner, hash: modelHash(weights) })).toThrow(
        'one of another model',
      )
    }
    await expect(lensCommand.run([run, '--steps', '0'])).rejects.toThrow('--steps: expected')

    const other = await trained('other', 1, { intermediate_size: 32 })
    await expect(transplantCommand.run([run, other])).rejects.toThrow(
      'mlp.gate_proj.weight: expected [24,16] in both models, got [32,16]',
    )
    await expect(transplantCommand.run([run])).rejects.toThrow('takes two checkpoints')
    await expect(transplantCommand.run([run, join(root, 'nowhere')])).rejects.toThrow(
      'no such file or folder',
    )
    await expect(transplantCommand.run([run, run, '--problems', '1'])).rejects.toThrow(
      '--problems: expected a whole number of at least 2, got 1',
    )
  },
)

test.skipIf(!process.env.LONG_TESTS)(
  'a probe of each layer is fitted in every state that a run keeps',
  async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const run = await trained('probed', 31, {}, { id: 'sort_digits', length: 3 })
    const out = join(root, 'probes.json')
    log.mockClear()
    expect(await linearProbeCommand.run([run, '--problems', '60', '--out', out])).toBe(0)
    const { states, problems } = JSON.parse(readFileSync(out, 'utf8'))
    expect(problems).toEqual({ fitted: 30, held_out: 30 })
    expect(states.map(({ step }: { step: number }) => step)).toEqual([30, 31])
    for (const { layers } of states) expect(layers).toHaveLength(3)
    expect(log.mock.calls.flat().join('\n')).toMatch(
      /step 31; .*\n {2}layer 0 .*\n {2}layer 1 .*\n {2}layer 2 +\d+\.\d % ± \d+\.\d % +\(\d+\.\d %\)/,
    )
    // One file is one state.
    const file = join(run, 'checkpoints', fileOf(30))
    await linearProbeCommand.run([file, '--problems', '60', '--out', out])
    expect(JSON.parse(readFileSync(out, 'utf8')).states).toEqual([states[0]])
    await expect(linearProbeCommand.run([run, '--property', 'colour'])).rejects.toThrow(
      'property: expected one of right, next_token, repeated, got colour',
    )
    await expect(linearProbeCommand.run([run, '--l2', '0'])).rejects.toThrow(
      '--l2: expected a number',
    )
  },
)

test('vectors are made of solved and failed problems, saved, and read again', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const run = await trained('steered', 61)
  const early = join(run, 'checkpoints', fileOf(60))
  const [out, save] = [join(root, 'steering.json'), join(root, 'vectors.safetensors')]
  log.mockClear()
  const options = ['--strengths=-1,2', '--seed', '2', '--out', out]
  expect(await steerCommand.run([early, '--save', save, ...options])).toBe(0)
  const made = JSON.parse(readFileSync(out, 'utf8'))
  expect(made.made).toMatch(/mean states of \d+ solved held-out problems less those of \d+ failed/)
  expect(made.problems).toBe(10)
  // Every prompt ends with the same token: its embedding is no direction.
  expect(made.vectors[0].every((x: number) => x === 0)).toBe(true)
  expect(made.effects.map(({ layer }: { layer: number }) => layer)).toEqual([1, 1, 2, 2])
  expect(log.mock.calls.flat().join('\n')).toMatch(
    /layer 1 {3}× {4}2 \(size \d+\.\d\d\) {2}reward [+−]\d\.\d{3} ± /,
  )
  expect(await steerCommand.run([early, '--vectors', save, ...options])).toBe(0)
  const read = JSON.parse(readFileSync(out, 'utf8'))
  expect(read.vectors).toEqual(made.vectors)
  expect(read.problems).toBe(20)
  await expect(steerCommand.run([run, '--vectors', save])).rejects.toThrow(
    'vectors.safetensors: the vectors belong to the model sha256-',
  )
  await expect(steerCommand.run([run, '--toward', '1'])).rejects.toThrow('both texts or neither')
})
