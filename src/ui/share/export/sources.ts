// Lists what can leave the lab: the settings as they are, or weights of a run.
import { version } from '../../../../package.json'
import { listCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { shippedModel } from '../../../host/content/models/shipped.ts'
import { withFirstWeights } from '../../../jobs/first_weights.ts'
import type { JobSource } from '../../../jobs/job_spec.ts'
import { checkpointSource, experimentSource } from '../../../jobs/model_folders.ts'
import { shippedFiles } from '../../../page/opened/shipped_files.ts'
import { openRun } from '../../../page/runs/library/library.ts'
import { type RunEntry, runOf } from '../../../page/runs/library/library_store.ts'
import { nextExperiment } from '../../../page/state/next_experiment.ts'
import { labStore } from '../../../page/state/store.ts'
import type { MetricColumns } from '../../../record/files/metrics_file.ts'
import { runName } from '../../../record/run/names.ts'
import { formatCount } from '../../kit/format.ts'
import { runState } from '../../open/models/run_files.ts'
import type { Wanted } from '../../open/open_export.ts'
import { openedStore } from '../../open/opened_run.ts'
import { fileTitle } from '../../open/shown_run.ts'
import { fromPreset } from '../../shown/names/from_preset.ts'

/** A line of the menu. */
export interface SourceChoice {
  readonly id: string
  readonly label: string
  /** Undefined for the settings. Without a step it is the run in progress as it is now. */
  readonly of: Wanted | undefined
}

export const SETTINGS: SourceChoice = {
  id: 'settings',
  label: 'These settings, untrained',
  of: undefined,
}

/** '“GRPO, lr 0.0003” (from Reverse six digits)'. */
function exportedName(entry: RunEntry): string {
  const { name } = runName(entry)
  const from = fromPreset(entry, name)
  return from === '' ? `“${name}”` : `“${name}” (${from})`
}

/** The settings, and what is kept of a run, newest first. */
export async function sourceChoices(wanted: Wanted | undefined): Promise<SourceChoice[]> {
  const { record: living, step } = labStore.getState()
  const record = wanted?.record ?? openedStore.getState().opened?.id ?? living
  if (record === '') return [SETTINGS]
  const entry = runOf(record)
  const name = entry ? exportedName(entry) : 'This run'
  const kept = (await listCheckpoints(record)).map(({ step }) => step).toReversed()
  const isNewer = record === living && step > (kept[0] ?? 0)
  return [
    SETTINGS,
    ...(isNewer ? [{ id: 'now', label: `${name} as it is now`, of: { record } }] : []),
    ...kept.map((step) => ({
      id: `step-${step}`,
      label: `${name} after step ${formatCount(step)}`,
      of: { record, step },
    })),
  ]
}

/** The one that the dialog opens with: what was asked for, else the newest of the run, else the
 * settings. */
export const firstChoice = (
  choices: readonly SourceChoice[],
  wanted: Wanted | undefined,
): SourceChoice =>
  choices.find(({ of }) => wanted?.step !== undefined && of?.step === wanted.step) ??
  choices[1] ??
  SETTINGS

/** What can leave: the experiment with its weights, and the metrics of the whole run. */
export interface PageSource extends JobSource {
  /** undefined: these are settings, of which nothing was trained. */
  readonly series: MetricColumns | undefined
  /** What its files are called. */
  readonly title: string
}

/** The metrics of a run of the list, or of the one in progress. */
async function seriesOf(record: string): Promise<MetricColumns> {
  const { record: living, series } = labStore.getState()
  return record === living ? series : (await openRun(record)).state.series
}

/** The files of a model that comes with the page. */
async function shippedHere({ source }: { readonly source: string | null }) {
  const model = source === null ? undefined : shippedModel(source)
  return model && shippedFiles(model)
}

/** Rejects with a sentence for people. */
export async function loadSource({ of }: SourceChoice): Promise<PageSource> {
  if (!of) {
    // As it began, where the settings are the run's: what was changed on the way comes later.
    const experiment = nextExperiment(labStore.getState())
    const settings = await withFirstWeights(experimentSource(experiment), {
      model: await shippedHere(experiment.model),
      teacher: await shippedHere(experiment.teacher),
    })
    const title = settings.experiment.name ?? ''
    return { ...settings, understory: version, series: undefined, title }
  }
  const { record, step } = of
  const run = await runState(record, step)
  const title = fileTitle(record, run.experiment)
  return { ...checkpointSource(run), understory: version, series: await seriesOf(record), title }
}
