// Holds a person's choices in the export dialog, and computes what comes of them.

import {
  adapterExport,
  checkJob,
  type JobCheck,
  makeJob,
  modelExport,
} from '../../../jobs/job_files.ts'
import type { Job, JobOptions } from '../../../jobs/job_spec.ts'
import { requireWeights } from '../../../jobs/model_folders.ts'
import { metricsExport } from '../../../jobs/notebooks/metrics_notebook.ts'
import {
  type Cluster,
  type Proposal,
  proposals,
  type ScaleValues,
  scaleValues,
} from '../../../jobs/scale/scale.ts'
import { JobError } from '../../../jobs/settings/job_error.ts'
import { TARGETS, type Target, type VerlVersion } from '../../../jobs/settings/setting.ts'
import { runFileStem } from '../../../record/files/file_names.ts'
import { t } from '../../kit/translator.ts'
import { refusedWords } from './refused_words.ts'
import type { PageSource } from './sources.ts'

/** A plain model, PEFT's adapter, a job of one of the systems, or the metrics alone. */
const FORMATS = ['hf', 'peft', ...TARGETS, 'notebook'] as const
export type Format = (typeof FORMATS)[number]

/** What a source can be taken out as: an adapter and metrics only where there are such. */
export const formatsOf = ({ experiment, series }: PageSource): readonly Format[] =>
  FORMATS.filter(
    (format) =>
      (format !== 'peft' || experiment.model.lora.r > 0) &&
      (format !== 'notebook' || series !== undefined),
  )

/** Whether another system runs what is written. */
export const isJob = (format: Format): format is Target =>
  TARGETS.some((target) => target === format)

export interface Plan {
  readonly format: Format
  readonly verl: VerlVersion
  /** Index; undefined = the one that makeJob takes by itself. */
  readonly phase: number | undefined
  /** Another model; undefined = the lab's own. */
  readonly cluster: Cluster | undefined
  /** Of what is proposed for it, what the person changed. */
  readonly own: Partial<ScaleValues>
}

export const FIRST_PLAN: Plan = {
  format: 'verl',
  verl: '0.9',
  phase: undefined,
  cluster: undefined,
  own: {},
}

/** What another source cannot be taken out as is the first choice again. */
export const planFor = (source: PageSource, plan: Plan): Plan =>
  formatsOf(source).includes(plan.format) ? plan : { ...plan, format: FIRST_PLAN.format }

/** Other models are for systems that know several GPUs. */
export const canScale = (format: Format): boolean => format === 'verl' || format === 'bupo'

function optionsOf(plan: Plan, target: Target, proposed?: readonly Proposal[]): JobOptions {
  const { verl, phase, cluster, own } = plan
  return {
    target,
    // Its menu stands beside verl alone.
    verl: target === 'verl' ? verl : FIRST_PLAN.verl,
    ...(phase !== undefined && { phase }),
    ...(cluster && proposed && { scale: { ...cluster, values: scaleValues(proposed, own) } }),
  }
}

/** The result of a plan: warnings and lost settings, or the reason for a refusal. */
export type Outcome =
  | { readonly check: JobCheck | undefined; readonly proposed: readonly Proposal[] }
  | { readonly refused: string; readonly proposed: readonly Proposal[] }

/** The checks of one system; a model or an adapter has none. */
export function outcomeOf(source: PageSource, plan: Plan): Outcome {
  const { format, cluster } = plan
  let proposed: readonly Proposal[] = []
  if (format === 'notebook') return { check: undefined, proposed }
  try {
    if (!isJob(format)) {
      requireWeights(source)
      return { check: undefined, proposed }
    }
    const check = checkJob(source, optionsOf(plan, format))
    if (!cluster || !canScale(format) || !check.chosen) return { check, proposed }
    proposed = proposals(check.chosen, source.experiment.model.num_hidden_layers, cluster)
    return { check: checkJob(source, optionsOf(plan, format, proposed)), proposed }
  } catch (error) {
    if (error instanceof JobError) {
      const refused = refusedWords(pageWords(error.message), source.experiment, proposed)
      return { refused, proposed }
    }
    throw error
  }
}

/** What a folder is called behind its run: another version of verl has other files. */
const formatName = ({ format, verl }: Plan): string =>
  format === 'verl' ? `${format}-${verl}` : format

/** The files of a plan that is not refused, and the name of their folder. */
export function filesOf(
  source: PageSource,
  plan: Plan,
  proposed: readonly Proposal[],
): { readonly name: string; readonly files: Job['files'] } {
  const { format } = plan
  const { title, experiment } = source
  const name = `${runFileStem({ name: title, seed: experiment.seed })}-${formatName(plan)}`
  if (format === 'hf') return { name, files: modelExport(source) }
  if (format === 'peft') return { name, files: adapterExport(source) }
  if (format === 'notebook') {
    const { series = new Map(), understory } = source
    const own = { series, title: title || name, experiment, understory }
    return { name, files: metricsExport(own) }
  }
  const options = optionsOf(plan, format, canScale(format) ? proposed : undefined)
  return { name, files: makeJob(source, { ...options, say: t }).files }
}

/** What a sentence of the lab leaves open, in the words of this dialog's menus. */
const PAGE_WORDS: readonly (readonly [said: RegExp, here: string])[] = [
  [/(?<=is over at this checkpoint; )export for verl/g, 'choose these settings untrained, or verl'],
  [/Without an inner phase export for verl/g, 'Without an inner phase choose verl'],
  [/export for BuPO’s fork of verl/g, 'choose BuPO’s fork'],
  [/export for verl/g, 'choose verl'],
  [/export for TRL/g, 'choose TRL'],
  [/Say which when you export/g, 'Choose one under “Phase”'],
]

export const pageWords = (text: string): string =>
  PAGE_WORDS.reduce((words, [said, here]) => words.replace(said, here), text)
