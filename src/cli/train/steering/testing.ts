// Runs a real trainer through a document, with a person’s part said beforehand, for tests.

import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { SteeringAction } from '../../../document/experiment/steering/actions.ts'
import { tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { type Steered, SteeredRun } from '../../../host/worker/base/steered_run.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { initialWeights } from '../../../model/layout/params.ts'
import { steeredEngine } from '../../../rl/train/engine.ts'
import type { StepResult } from '../../../rl/train/parts/step_result.ts'

export const phase = (document: object) =>
  tinyExperiment({ phases: [{ kind: 'sft' }, document] }).phases[1]

export const numbers = ({ metrics, ...rest }: StepResult) => ({
  ...rest,
  metrics: Object.fromEntries(
    Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
  ),
})

/** Runs a document to its end or to step `until`; `hands` does something after the step that it is
 * named by. A teacher that the document names has random weights. */
export async function run(
  document: Experiment,
  hands: Readonly<Record<number, SteeringAction[]>> = {},
  until = Number.POSITIVE_INFINITY,
) {
  const gpu = await Gpu.open()
  const run = await SteeredRun.begin(steeredEngine(gpu, undefined), document)
  const { teacher } = run.trainer
  if (teacher) run.trainer.importTeacher(initialWeights(teacher.layout, 9))
  const results: StepResult[] = []
  const done: Steered[] = []
  const trainers = new Set()
  for (;;) {
    for (const action of results.length > 0 ? (hands[run.trainer.step] ?? []) : [])
      run.steer(action)
    done.push(...(await run.obey()))
    trainers.add(run.trainer)
    if (run.isFinished || results.length > until) break
    const { result } = await run.queue()
    results.push(await result)
  }
  const { actor, ...state } = await run.trainer.exportState()
  gpu.destroy()
  return {
    results: results.map(numbers),
    weights: actor.weights,
    teacher: state.teacher,
    done,
    rebuilds: trainers.size - 1,
  }
}

export const startedBy = (results: readonly ReturnType<typeof numbers>[]) =>
  results.flatMap(({ step, phase_started: p }) => (p ? [[step, p.phase, p.reason]] : []))
