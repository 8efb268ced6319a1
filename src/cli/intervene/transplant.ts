// lab transplant: finds which part of a model learned what another checkpoint knows. Parts are
// exchanged, both ways round.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { requireSameShape } from '../../model/interventions/transplant.ts'
import { type Exchange, exchanged } from '../../rl/train/touched/exchange.ts'
import { HeldOut } from '../../rl/train/touched/held_out.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from '../base/command.ts'
import { openDawn } from '../base/dawn.ts'
import { commandLine, text, usually } from '../base/declare.ts'
import { replaceFile } from '../base/disk.ts'
import { print } from '../base/terminal.ts'
import { readArguments } from '../options/read.ts'
import { readTouchable } from './touchable.ts'

const LINE = commandLine({
  name: 'transplant',
  takes: '<checkpoint> <checkpoint>',
  summary: 'held-out accuracy of two checkpoints with parts exchanged between them',
  notes: [
    'A checkpoint is a file of one, the folder of a run (then its newest), or the folder of a Hugging Face model, whose problems --data brings. Both answer the problems of the first.',
  ],
  groups: {
    Options: {
      problems: usually('128', 'N', 'held-out problems at most'),
      data: text(
        'FILE',
        'the rows of a run that was trained on them, where the lab does not have them, or those that a Hugging Face model is asked',
      ),
      out: text('FILE', 'writes every accuracy as JSON, too'),
    },
  },
  examples: [
    'transplant runs/bupo/checkpoints/step_000020.safetensors runs/bupo',
    'transplant runs/grpo runs/bupo --problems 512 --out layers.json',
  ],
})

export const transplantCommand: Command = {
  line: LINE,
  run: async (args) => {
    const { paths, problems, data, out } = readOptions(args)
    const [first, second] = [
      await readTouchable(paths[0], data),
      await readTouchable(paths[1], data),
    ]
    try {
      requireSameShape(first.layout, second.layout)
    } catch (error) {
      throw error instanceof ShapeError
        ? new LabFailure(`${paths[0]} and ${paths[1]}: ${error.message}`)
        : error
    }
    for (const [i, { config }] of [first, second].entries())
      if (config.tools)
        throw new LabFailure(`${paths[i]}: transplant answers in one turn; this run calls tools`)
    const dawn = await openDawn()
    if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
    const plan = new MemoryPlan()
    HeldOut.room(plan, first.config, first.layout)
    const gpu = await Gpu.open({ gpu: dawn, largest: plan.largest })
    try {
      const heldOut = await HeldOut.create(gpu, first.config, first.layout, problems)
      const right = (weights: Float32Array) => heldOut.right(weights)
      const found = [await exchanged(first, second, right), await exchanged(second, first, right)]
      for (const one of found) printTable(one)
      if (out !== undefined)
        replaceFile(out, `${JSON.stringify({ transplants: found }, undefined, 2)}\n`)
    } finally {
      gpu.destroy()
    }
    return 0
  },
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 2) throw new UsageError('transplant takes two checkpoints')
  const problems = Number(values.problems)
  if (!Number.isInteger(problems) || problems < 2)
    throw new UsageError(
      `--problems: expected a whole number of at least 2, got ${values.problems}`,
    )
  return { paths: positionals, problems, data: values.data, out: values.out }
}

function printTable({ host, donor, problems, accuracy, mixtures: rows }: Exchange): void {
  const percent = (x: number) => `${(100 * x).toFixed(1)} %`
  print(`${host} with parts of ${donor}, ${problems} held-out problems`)
  print(`  ${'untouched'.padEnd(18)}${percent(accuracy.host).padStart(8)}`)
  for (const { name, accuracy: found, change, interval } of rows)
    print(
      `  ${name.padEnd(18)}${percent(found).padStart(8)}  ${change < 0 ? '−' : '+'}${percent(Math.abs(change))} ± ${percent(interval)}`,
    )
  print(`  ${'the other'.padEnd(18)}${percent(accuracy.donor).padStart(8)}`)
}
