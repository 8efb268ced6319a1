// lab steer: makes a steering vector for each layer of a checkpoint, or reads them, and says what
// adding each does to the held-out answers.
import { basename } from 'node:path'
import { ModelFileError } from '../../formats/errors.ts'
import type { Steering, SteeringSource } from '../../rl/train/touched/steering.ts'
import { type TouchWork, touchModels } from '../../rl/train/touched/touch.ts'
import { type Command, LabFailure, UsageError } from '../base/command.ts'
import { commandLine, flag, text, usually } from '../base/declare.ts'
import { replaceFile } from '../base/disk.ts'
import { print } from '../base/terminal.ts'
import { readInput } from '../input/input_file.ts'
import { readArguments } from '../options/read.ts'
import { asFailure, openPlanned, readTouchable } from './touchable.ts'

const LINE = commandLine({
  name: 'steer',
  takes: '<checkpoint>',
  summary: 'makes a steering vector for each layer and says what adding it does',
  notes: [
    'A checkpoint is a file of one, the folder of a run (then its newest), or the folder of a Hugging Face model, whose problems --data brings. A vector is the mean state of held-out problems that it solves less that of problems that it fails, of one half of them; the others are answered with it. Or it is the mean state of one text less that of another.',
  ],
  groups: {
    Options: {
      toward: text('TEXT', 'the text that is steered toward'),
      away: text('TEXT', 'the text that is steered away from'),
      vectors: text('FILE', 'reads the vectors that --save wrote'),
      trained: flag('takes the vectors that the run has trained'),
      layers: text('LIST', 'whose vectors are added: numbers, or all for all at once'),
      strengths: usually('-4,-2,-1,1,2,4', 'LIST', 'what the vectors are multiplied by'),
      problems: usually('128', 'N', 'held-out problems at most'),
      seed: usually('1', 'N', 'decides which half the vectors are made of'),
      save: text('FILE', 'writes the vectors as safetensors'),
      data: text(
        'FILE',
        'the rows of a run that was trained on them, where the lab does not have them, or those that a Hugging Face model is asked',
      ),
      out: text('FILE', 'writes every number as JSON, too'),
    },
  },
  examples: [
    'steer runs/grpo --save solved.safetensors',
    "steer runs/grpo --toward '3+4=7' --away '3+4=8' --strengths=-8,8",
    'steer runs/grpo --vectors solved.safetensors --problems 512',
    'steer runs/vectors --trained --layers all --save trained.safetensors',
  ],
})

export const steerCommand: Command = {
  line: LINE,
  run: async (args) => {
    const { path, work, save, data, out } = readOptions(args)
    const model = await readTouchable(path, data)
    const touched = await touchModels(await openPlanned(path), work, [model], () => {}).catch(
      (error) => {
        if (error instanceof ModelFileError) throw new LabFailure(error.message)
        return asFailure(path)(error)
      },
    )
    if (touched.what !== 'steering') return 1
    const { steering } = touched
    printEffects(steering)
    if (save !== undefined) replaceFile(save, steering.file)
    if (out !== undefined) {
      const { file: _, vectors, ...rest } = steering
      const json = { ...rest, vectors: vectors.map((x) => [...x]) }
      replaceFile(out, `${JSON.stringify(json, undefined, 2)}\n`)
    }
    return 0
  },
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 1) throw new UsageError('steer takes one checkpoint')
  const { toward, away, vectors, trained, layers, save, data, out } = values
  if ((toward === undefined) !== (away === undefined))
    throw new UsageError('--toward and --away: expected both texts or neither')
  if (vectors !== undefined && toward !== undefined)
    throw new UsageError('--vectors: expected none beside --toward and --away')
  if (trained && (vectors ?? toward) !== undefined)
    throw new UsageError('--trained: expected none beside --vectors, --toward and --away')
  const whole = (name: 'problems' | 'seed', least: number) => {
    const value = Number(values[name])
    if (Number.isInteger(value) && value >= least) return value
    throw new UsageError(
      `--${name}: expected a whole number of at least ${least}, got ${values[name]}`,
    )
  }
  const work: TouchWork = {
    what: 'steering',
    source: trained ? { from: 'run' } : sourceOf(vectors, toward, away),
    problems: whole('problems', 2),
    seed: whole('seed', 0),
    strengths: values.strengths.split(',').map(Number),
    ...(layers !== undefined && {
      layers: layers.split(',').map((one) => (one === 'all' ? one : Number(one))),
    }),
  }
  return { path: positionals[0], work, save, data, out }
}

function sourceOf(
  file: string | undefined,
  toward: string | undefined,
  away: string | undefined,
): SteeringSource {
  if (file !== undefined) {
    return { from: 'file', name: basename(file), bytes: new Uint8Array(readInput(file)) }
  }
  if (toward !== undefined && away !== undefined) return { from: 'texts', toward, away }
  return { from: 'answers' }
}

const signed = (x: number, digits: number) => `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(digits)}`

/** A line for each layer and strength. */
function printEffects({ step, made, problems, untouched, effects, vectors }: Steering): void {
  print(`step ${step}; ${made}`)
  print(
    `${problems} held-out problems, untouched: reward ${untouched.reward.toFixed(3)}; changes with ± 95 %`,
  )
  for (const { layer, strength, reward, log_prob, entropies } of effects) {
    const added = layer === 'all' ? vectors : [vectors[layer]]
    const size = Math.sqrt(added.flatMap((x) => [...x]).reduce((sum, x) => sum + x * x, 0))
    const last = entropies.at(-1)
    const said = [
      `reward ${signed(reward.mean, 3)} ± ${reward.interval.toFixed(3)}`,
      ...(log_prob
        ? [`log-prob ${signed(log_prob.mean, 2)} ± ${log_prob.interval.toFixed(2)}`]
        : []),
      ...(last ? [`final entropy ${signed(last.mean, 3)} ± ${last.interval.toFixed(3)}`] : []),
    ]
    print(
      `  layer ${`${layer}`.padEnd(3)} × ${`${strength}`.padStart(4)} (size ${(Math.abs(strength) * size).toFixed(2)})  ${said.join('  ')}`,
    )
  }
}
