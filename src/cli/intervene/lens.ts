// lab lens: fits a tuned lens and a Jacobian lens on what a model writes, and reads every layer in
// every way.
import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { LENS_SETTINGS, type LensSettings } from '../../rl/config/lens_settings.ts'
import { type Touched, touchModels } from '../../rl/train/touched/touch.ts'
import { type Command, UsageError } from '../base/command.ts'
import { commandLine, text, usually } from '../base/declare.ts'
import { replaceFile } from '../base/disk.ts'
import { print } from '../base/terminal.ts'
import { readInput } from '../input/input_file.ts'
import { readArguments } from '../options/read.ts'
import { asFailure, openPlanned, readTouchable } from './touchable.ts'

const LINE = commandLine({
  name: 'lens',
  takes: '<checkpoint>',
  summary: 'other readings of a layer: fits a tuned and a Jacobian lens, and measures them',
  notes: [
    'A checkpoint is a file of one, the folder of a run (then its newest), or the folder of a Hugging Face model, whose problems --data brings. The texts are what the model itself writes to problems of its task.',
  ],
  groups: {
    Options: {
      texts: usually(`${LENS_SETTINGS.texts}`, 'N', 'texts that the lenses are fitted on'),
      'held-out': usually(
        `${LENS_SETTINGS.held_out}`,
        'N',
        'texts of held-out problems that they are measured on',
      ),
      steps: usually(`${LENS_SETTINGS.steps}`, 'N', 'steps of AdamW of the tuned lens'),
      lr: usually(`${LENS_SETTINGS.lr}`, 'X', 'its learning rate, which falls to zero'),
      'skip-first': usually(
        `${LENS_SETTINGS.skip_first}`,
        'N',
        'first tokens of a text that the Jacobian leaves out',
      ),
      lens: text('FILES', 'reads through lenses of files, with commas, in place of fitting those'),
      data: text(
        'FILE',
        'the rows of a run that was trained on them, where the lab does not have them, or those that a Hugging Face model is asked',
      ),
      out: text(
        'DIR',
        'writes tuned.safetensors and jacobian.safetensors there, and readings.json',
      ),
    },
  },
  examples: [
    'lens runs/grpo',
    'lens runs/grpo --steps 500 --out lenses',
    'lens runs/grpo --lens lenses/tuned.safetensors',
  ],
})

export const lensCommand: Command = {
  line: LINE,
  run: async (args) => {
    const { path, settings, data, out, lenses } = readOptions(args)
    const model = await readTouchable(path, data)
    const touched = await touchModels(
      await openPlanned(path),
      { what: 'readings', settings, lenses },
      [model],
      () => {},
    ).catch(asFailure(path))
    if (touched.what !== 'readings') return 1
    printLayers(touched)
    if (out === undefined) return 0
    mkdirSync(out, { recursive: true })
    for (const { name, bytes } of touched.files) {
      const file = join(out, name)
      replaceFile(file, bytes)
      print(`Wrote ${file}`)
    }
    const report = { step: touched.step, ...touched.readings }
    replaceFile(join(out, 'readings.json'), `${JSON.stringify(report, undefined, 2)}\n`)
    return 0
  },
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 1) throw new UsageError('lens takes one checkpoint')
  const whole = (name: 'texts' | 'held-out' | 'steps' | 'skip-first', least: number) => {
    const value = Number(values[name])
    if (Number.isInteger(value) && value >= least) return value
    throw new UsageError(
      `--${name}: expected a whole number of at least ${least}, got ${values[name]}`,
    )
  }
  const lr = Number(values.lr)
  if (!(lr > 0 && lr <= 1)) throw new UsageError(`--lr: expected 0 to 1, got ${values.lr}`)
  const settings: LensSettings = {
    texts: whole('texts', 1),
    held_out: whole('held-out', 1),
    steps: whole('steps', 1),
    lr,
    skip_first: whole('skip-first', 0),
  }
  const lenses = (values.lens?.split(',') ?? []).map((file) => ({
    name: basename(file),
    bytes: new Uint8Array(readInput(file)),
  }))
  return { path: positionals[0], settings, lenses, data: values.data, out: values.out }
}

function printLayers({ step, readings }: Extract<Touched, { what: 'readings' }>): void {
  const { tokens, layers } = readings
  const readouts = [...new Set(layers.map(({ readout }) => readout))]
  const last = layers[layers.length - 1].layer
  print(
    `step ${step}: fitted on ${tokens.fitted} tokens, measured on ${tokens.held_out} of held-out problems`,
  )
  const table = (title: string, of: 'kl' | 'entropy') => {
    print(`${title}, nats`)
    print(`  ${''.padEnd(10)}${readouts.map((name) => name.padStart(10)).join('')}`)
    for (let l = 0; l <= (of === 'kl' ? last - 1 : last); l++) {
      const cells = readouts.map((readout) => {
        const found = layers.find((one) => one.layer === l && one.readout === readout)
        return (found ? found[of].toFixed(4) : '').padStart(10)
      })
      print(`  ${`layer ${l}`.padEnd(10)}${cells.join('')}`)
    }
  }
  table('KL from the final policy to each layer’s', 'kl')
  table('entropy', 'entropy')
}
