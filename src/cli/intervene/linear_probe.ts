// lab linear-probe: finds which layers tell a property of the problem, in every checkpoint of a
// run.
import type { ProbedState } from '../../rl/train/touched/probes.ts'
import { type Touched, type TouchWork, touchModels } from '../../rl/train/touched/touch.ts'
import { type Command, UsageError } from '../base/command.ts'
import { commandLine, text, usually } from '../base/declare.ts'
import { replaceFile } from '../base/disk.ts'
import { print } from '../base/terminal.ts'
import { readArguments } from '../options/read.ts'
import { asFailure, openPlanned, touchablesOf } from './touchable.ts'

const LINE = commandLine({
  name: 'linear-probe',
  takes: '<checkpoint>',
  summary: 'which layers tell a property of the problem: a linear probe for each',
  notes: [
    'A checkpoint is a file of one, the folder of a run (then all that it keeps), or the folder of a Hugging Face model, whose problems --data brings. A property is right (whether the model will answer right), next_token (of the right answer), or one that the task declares, such as carry of additions.',
    'Each probe is fitted on half of the held-out problems and asked about the others, beside one that was fitted with shuffled labels.',
  ],
  groups: {
    Options: {
      property: usually('next_token', 'NAME', 'what the probes look for'),
      problems: usually('256', 'N', 'held-out problems at most'),
      seed: usually('1', 'N', 'decides which half is fitted on, and how labels are shuffled'),
      l2: usually('1', 'X', "penalty; 1 is scikit-learn's C = 1"),
      data: text(
        'FILE',
        'the rows of a run that was trained on them, where the lab does not have them, or those that a Hugging Face model is asked',
      ),
      out: text('FILE', 'writes every number as JSON, too'),
    },
  },
  examples: [
    'linear-probe runs/grpo',
    'linear-probe runs/grpo/checkpoints/step_000020.safetensors --property carry',
  ],
})

type Probed = Extract<Touched, { what: 'probes' }>

export const linearProbeCommand: Command = {
  line: LINE,
  run: async (args) => {
    const { path, work, data, out } = readOptions(args)
    const models = await touchablesOf(path, data)
    const touched = await touchModels(await openPlanned(path), work, models, () => {}).catch(
      asFailure(path),
    )
    if (touched.what !== 'probes') return 1
    printProbes(touched)
    if (out !== undefined) replaceFile(out, `${JSON.stringify(touched.probes, undefined, 2)}\n`)
    return 0
  },
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 1) throw new UsageError('linear-probe takes one checkpoint')
  const { property, data, out } = values
  const whole = (name: 'problems' | 'seed', least: number) => {
    const value = Number(values[name])
    if (Number.isInteger(value) && value >= least) return value
    throw new UsageError(
      `--${name}: expected a whole number of at least ${least}, got ${values[name]}`,
    )
  }
  const l2 = Number(values.l2)
  if (!(l2 > 0 && Number.isFinite(l2)))
    throw new UsageError(`--l2: expected a number above 0, got ${values.l2}`)
  const work: TouchWork = {
    what: 'probes',
    property,
    problems: whole('problems', 1),
    seed: whole('seed', 0),
    l2,
  }
  return { path: positionals[0], work, data, out }
}

function printProbes({ probes: { label, problems, states } }: Probed): void {
  const { fitted, held_out, tokens } = problems
  const asked = tokens === undefined ? '' : ` (${tokens} answer tokens)`
  print(
    `${label}: fitted on ${fitted} held-out problems, accuracy on ${held_out} others${asked}; in brackets with shuffled labels`,
  )
  for (const state of states) printState(state)
}

const percent = (x: number) => `${(100 * x).toFixed(1)} %`

function printState({ step, layers, commonest, why_not }: ProbedState): void {
  if (why_not !== undefined) return print(`step ${step}: ${why_not}`)
  print(`step ${step}; always the commonest value: ${percent(commonest)}`)
  for (const [layer, { accuracy, control, gain }] of layers.entries())
    print(
      `  layer ${`${layer}`.padEnd(4)}${percent(accuracy.mean).padStart(8)} ± ${percent(accuracy.interval).padEnd(7)} (${percent(control.mean)})  ${gain.mean < 0 ? '−' : '+'}${percent(Math.abs(gain.mean))} ± ${percent(gain.interval)}`,
    )
}
