// Measures the states that a run of a study has left: what its parts give the start, what the run
// is without them, and how far its layers are from a teacher.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isWarmStart } from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import type { Point } from '../../document/study/results.ts'
import type { Inside } from '../../document/study/study.ts'
import { fileOf, stepOf } from '../../host/checkpoints/storage/places.ts'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import type { Part } from '../../model/interventions/parts.ts'
import { bareConfig, modelShape } from '../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../model/layout/params.ts'
import { answersOf } from '../../rl/train/touched/answers/problem_texts.ts'
import type { Exchange } from '../../rl/train/touched/exchange.ts'
import { planTeacherKl, teacherKl } from '../../rl/train/touched/teacher_kl.ts'
import { type OpenTouch, type Touchable, touchModels } from '../../rl/train/touched/touch.ts'
import { LabFailure } from '../base/command.ts'
import { readGivenModel } from '../input/given_model.ts'
import { startFolder } from '../input/model_start.ts'
import { openPlanned, readTouchable } from '../intervene/touchable.ts'
import { checkpointFolder } from '../output/checkpoint_files.ts'
import { readGivenTeacher } from '../train/given_teacher.ts'
import { readCheckpointModel } from '../train/resume.ts'

/** Where a run lies, the run or checkpoint that it began with, where it is not as its experiment
 * says, and where its phases began: each with the step after `step`. */
interface LeftRun {
  readonly folder: string
  readonly start?: string | undefined
  readonly phases: readonly { readonly step: number; readonly phase: number }[]
}

/** A state of the run, read when its turn comes. */
interface State {
  readonly step: number
  readonly read: () => Promise<Touchable>
}

interface States {
  /** Where reinforcement begins. */
  readonly start: State
  /** Behind it, oldest first. */
  readonly later: readonly State[]
}

/** [step, value] by metric, without `inside/` before the name. */
export type InsideSeries = Record<string, Point[]>

/** What a study asks of the states of a run. Throws LabFailure where they do not allow it. */
export async function insideOf(
  experiment: Experiment,
  { of, problems, every }: Inside,
  run: LeftRun,
): Promise<InsideSeries> {
  const open = await openPlanned(run.folder)
  const states = statesOf(experiment, run, every)
  const found: InsideSeries = {}
  const add = (name: string, step: number, value: number) => {
    const key = name.replaceAll(' ', '_')
    found[key] = [...(found[key] ?? []), [step, value]]
  }
  if (of.includes('transplants')) await addTransplants(open, states, problems, add)
  if (of.includes('ablations')) await addAblations(open, states, problems, add)
  if (of.includes('teacher_kl')) await addTeacherKl(open, experiment, states, problems, add)
  return found
}

type Add = (name: string, step: number, value: number) => void

/** The states that are looked at: all that are kept where the study says how often, else those at
 * the end of phases. */
function statesOf(
  experiment: Experiment,
  { folder, start: from, phases }: LeftRun,
  every: number | undefined,
): States {
  const kept = readdirSync(checkpointFolder(folder))
    .flatMap((name) => stepOf(name) ?? [])
    .sort((a, b) => a - b)
  const own = (step: number): State => ({
    step,
    read: () => readTouchable(join(checkpointFolder(folder), fileOf(step)), undefined),
  })
  const warm = experiment.phases.findIndex((phase) => !isWarmStart(phase))
  const begins = phases.find(({ phase }) => phase >= warm)?.step ?? 0
  const ends = new Set([...phases.map(({ step }) => step), kept.at(-1)])
  const later = kept.filter((step) => step > begins && (every !== undefined || ends.has(step)))
  const start = begins > 0 ? own(begins) : { step: 0, read: () => unbegun(experiment, from) }
  return { start, later: later.map(own) }
}

/** The model that an experiment begins with. */
async function unbegun(experiment: Experiment, from: string | undefined): Promise<Touchable> {
  const config = trainerConfig(experiment)
  if (from !== undefined) {
    const { weights } = await readCheckpointModel(from, experiment, from)
    return { name: 'start', step: 0, config, weights }
  }
  const folder = await startFolder(experiment)
  if (folder !== undefined) {
    const { weights } = await readGivenModel(folder, config.task.tokenizer)
    return { name: 'start', step: 0, config, weights }
  }
  const layout = paramLayout(modelShape(bareConfig(config.model)))
  return { name: 'start', step: 0, config, weights: initialWeights(layout, config.seed) }
}

async function addTransplants(
  open: OpenTouch,
  { start, later }: States,
  problems: number,
  add: Add,
): Promise<void> {
  for (const { step, read } of later) {
    const work = { what: 'exchange', problems } as const
    const touched = await touchModels(open, work, [start.read, read], () => {})
    if (touched.what !== 'exchange') return
    const [into, back] = touched.exchanges
    const addAll = (name: string, { mixtures }: Exchange) => {
      for (const { name: part, accuracy } of mixtures) add(`${name}/${part}/acc`, step, accuracy)
    }
    addAll('start_with', into)
    addAll('run_with_starts', back)
  }
}

const partName = ({ where, layer, head }: Part) =>
  `${where} ${layer}${head === undefined ? '' : ` ${head}`}`

async function addAblations(
  open: OpenTouch,
  { start, later }: States,
  problems: number,
  add: Add,
): Promise<void> {
  for (const { step, read } of [start, ...later]) {
    const touched = await touchModels(open, { what: 'parts', problems }, [read], () => {})
    if (touched.what !== 'parts') return
    for (const part of touched.costs.parts) add(`without/${partName(part)}`, step, part.reward.mean)
  }
}

async function addTeacherKl(
  open: OpenTouch,
  experiment: Experiment,
  { start, later }: States,
  problems: number,
  add: Add,
): Promise<void> {
  const taught = await readGivenTeacher(experiment, undefined)
  const config = taught && trainerConfig(taught.experiment)
  if (!taught || !config?.teacher)
    throw new LabFailure('inside.of: teacher_kl: expected a teacher in the base, found none')
  const texts = answersOf(config, problems)
  if (texts.length === 0)
    throw new LabFailure('inside.of: teacher_kl: right answers are no texts of the vocabulary')
  const own = paramLayout(modelShape(bareConfig(config.model)))
  const layout = paramLayout(modelShape(bareConfig(config.teacher)))
  const plan = new MemoryPlan()
  planTeacherKl(plan, own, layout, texts)
  const opened = await open(plan)
  const gpu = 'gpu' in opened ? opened.gpu : opened
  const all = [start, ...later]
  const weights = all.map(
    ({ read }) =>
      async () =>
        (await read()).weights,
  )
  const found = await teacherKl(gpu, own, { layout, weights: taught.weights }, texts, weights)
  gpu.destroy()
  for (const [i, layers] of found.entries())
    for (const [l, kl] of layers.entries()) add(`teacher_kl/${l}`, all[i].step, kl)
}
