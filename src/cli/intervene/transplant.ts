// lab transplant: finds which part of a model learned what another checkpoint knows. Parts are
// exchanged, both ways round.
import { totalmem } from 'node:os'
import { memoryBudget } from '../../host/worker/base/memory_budget.ts'
import type { Exchange } from '../../rl/train/touched/exchange.ts'
import { touchModels } from '../../rl/train/touched/touch.ts'
import { type Command, UsageError } from '../base/command.ts'
import { commandLine, text, usually } from '../base/declare.ts'
import { replaceFile } from '../base/disk.ts'
import { print } from '../base/terminal.ts'
import { readArguments } from '../options/read.ts'
import { asFailure, openPlanned, readTouchable } from './touchable.ts'

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
    const pair = paths.map((path) => () => readTouchable(path, data))
    const both = paths.join(' and ')
    const work = { what: 'exchange', problems } as const
    const allowed = memoryBudget(totalmem() / 2 ** 30)
    const open = await openPlanned(both)
    const touched = await touchModels(open, work, pair, () => {}, allowed).catch(asFailure(both))
    if (touched.what !== 'exchange') return 1
    const { exchanges } = touched
    for (const one of exchanges) printTable(one)
    if (out !== undefined)
      replaceFile(out, `${JSON.stringify({ transplants: exchanges }, undefined, 2)}\n`)
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
