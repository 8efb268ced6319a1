// Changes an experiment before a run of it begins: it takes the sizes of a given model, drops the
// warm start where weights bring it, and refuses questions to a person.
import { followExperiment, parseExperiment } from '../../document/experiment/experiment.ts'
import { isPairedDocument, type PhaseDocument } from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { LabFailure } from '../base/command.ts'
import type { GivenModel } from '../input/given_model.ts'

/** The experiment with the sizes of the model that it begins with. Throws LabFailure where it does
 * not fit them. */
export function withModel(experiment: Experiment, { model }: GivenModel): Experiment {
  const parsed = parseExperiment({ ...experiment, model: { ...experiment.model, ...model } })
  if (parsed.ok) return parsed.experiment
  const [{ path, message }] = parsed.issues
  throw new LabFailure(`--model: ${path}: ${message}`)
}

/** The experiment without the sft phases it begins with. */
export function afterWarmStart(experiment: Experiment): Experiment {
  const first = experiment.phases.findIndex(({ kind }) => kind !== 'sft')
  if (first < 0) throw new LabFailure('--warm-start: this experiment has sft phases only')
  if (experiment.steering.length > 0)
    throw new LabFailure(
      '--warm-start: this experiment is steered, and its steps count from the first sft phase; take steering out of it',
    )
  return { ...experiment, phases: experiment.phases.slice(first) }
}

/** Refuses an experiment that would wait for a person for ever, as far as can be said before phase
 * `from` of it runs. */
export function refuseQuestions(experiment: Experiment, from = 0): void {
  const { phases } = followExperiment(experiment).experiments.at(-1) ?? experiment
  for (const [i, phase] of phases.entries())
    if (i >= from && asksSomeone(phase))
      throw new LabFailure(
        `phases.${i}.pairs.source: 'human' asks the person at the page, which the command line cannot do. ` +
          `Use 'judge', or an experiment with phases.${i}.pairs.verdicts: links copied from a finished run have them`,
      )
}

const asksSomeone = (phase: PhaseDocument): boolean =>
  isPairedDocument(phase) && phase.pairs.source === 'human' && !phase.pairs.verdicts
