// lab transplant: which part of a model learned what another checkpoint knows? Parts are exchanged,
// both ways round.
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { checkpointSource, mergedPolicy } from '../../jobs/model_folders.ts'
import { ShapeError } from '../../kernels/device/errors.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { MemoryPlan } from '../../kernels/device/tensor.ts'
import { requireSameShape } from '../../model/interventions/transplant.ts'
import { modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import type { TrainerConfig } from '../../rl/config/trainer_config.ts'
import { type Exchange, type ExchangeSource, exchanged } from '../../rl/train/responses/exchange.ts'
import { HeldOut } from '../../rl/train/responses/held_out.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from '../base/command.ts'
import { openDawn } from '../base/dawn.ts'
import { commandLine, text, usually } from '../base/declare.ts'
import { replaceFile } from '../base/disk.ts'
import { print, tell } from '../base/terminal.ts'
import { givenData, loadNamedFiles } from '../input/data_set.ts'
import { readInput } from '../input/input_file.ts'
import { readArguments } from '../options/read.ts'
import { findCheckpoint } from '../train/resume.ts'

const LINE = commandLine({
  name: 'transplant',
  takes: '<checkpoint> <checkpoint>',
  summary: 'held-out accuracy of two checkpoints with parts exchanged between them',
  notes: [
    'A checkpoint is a file of one, or the folder of a run: then its newest. Both answer the problems of the first.',
  ],
  groups: {
    Options: {
      problems: usually('128', 'N', 'held-out problems at most'),
      data: text(
        'FILE',
        'the rows of a run that was trained on them, where the lab does not have them',
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
    const [first, second] = [await readSource(paths[0], data), await readSource(paths[1], data)]
    try {
      requireSameShape(first.layout, second.layout)
    } catch (error) {
      throw error instanceof ShapeError
        ? new LabFailure(`${paths[0]} and ${paths[1]}: ${error.message}`)
        : error
    }
    const dawn = await openDawn()
    if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
    const plan = new MemoryPlan()
    HeldOut.room(plan, first.config, first.layout)
    const gpu = await Gpu.open({ gpu: dawn, largest: plan.largest })
    try {
      const held_out = await HeldOut.create(gpu, first.config, first.layout, problems)
      const right = (weights: Float32Array) => held_out.right(weights)
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

interface Source extends ExchangeSource {
  readonly config: TrainerConfig
}

async function readSource(path: string, file: string | undefined): Promise<Source> {
  if (!existsSync(path)) throw new LabFailure(`${path}: no such file or folder`)
  const { run } = statSync(path).isDirectory()
    ? (await findCheckpoint(path, undefined)).checkpoint
    : await decodeCheckpoint(new Uint8Array(readInput(path)), basename(path))
  await loadNamedFiles(run.experiment, await givenData({ data: file }), tell)
  const config = trainerConfig(run.experiment)
  if (config.tools)
    throw new LabFailure(`${path}: transplant answers in one turn; this run calls tools`)
  const weights = mergedPolicy(checkpointSource(run))
  if (!weights) throw new LabFailure(`${path}: expected weights, found none`)
  const { lora: _, ...model } = config.model
  const layout = paramLayout(modelShape(model))
  return { name: path, step: run.trainer.step, config, layout, weights }
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
