// Trains in a folder to the end or to the first signal, and says what came of it.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { BrokenNumbers, brokenHead } from '../../host/protocol/guard.ts'
import { LabFailure } from '../base/command.ts'
import { reason } from '../base/disk.ts'
import { print, tell } from '../base/terminal.ts'
import { folderFiles } from '../output/checkpoint_files.ts'
import { EventLog, eventFolder } from '../output/event_log.ts'
import type { Options } from './train_options.ts'
import { TrainingRun, type TrainingRunParts } from './training_run.ts'
import { saveWeights } from './weights.ts'

/** How a person or the system ends a run; it ends after the step in flight. A terminal that is
 * closed sends the last one. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Trains to the end or to the first signal. Resolves with the exit code: 130 for a run that was
 * stopped, 1 where not all of it could be written. */
export async function drive(
  parts: TrainingRunParts,
  experiment: Experiment,
  { out, save, hasEvents }: Pick<Options, 'out' | 'save' | 'hasEvents'>,
): Promise<number> {
  const { run: steered, folder } = parts
  const missing: string[] = []
  const events = hasEvents ? new EventLog(eventFolder(out, experiment.name ?? ''), tell) : undefined
  const run = new TrainingRun({
    ...parts,
    events,
    afterSft: async () => {
      if (save === undefined) return
      const weights = await steered.trainer.exportWeights()
      try {
        saveWeights(save, experiment, steered.step, weights)
      } catch (error) {
        missing.push(`--save: the weights were not written (${reason(error)})`)
        tell(missing[0])
      }
    },
  })
  const onSignal = () => run.stop()
  for (const signal of SIGNALS) process.once(signal, onSignal)
  try {
    await run.train()
  } catch (error) {
    throw error instanceof BrokenNumbers ? await brokenRun(error, out) : error
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
    missing.push(...(folder?.missing ?? []))
    folder?.close()
    events?.close()
  }
  if (run.checkpoint_problem !== undefined)
    missing.push(`there is no checkpoint of the end (${run.checkpoint_problem})`)
  print(run.summary())
  if (out !== undefined) print(`Wrote ${out}`)
  if (events) print(`Wrote ${events.path}`)
  if (missing.length > 0) tell(await incomplete(missing, out))
  if (run.status !== 'finished') return 130
  return missing.length > 0 ? 1 : 0
}

/** What a folder lacks, what it has, and the way out. */
async function incomplete(missing: readonly string[], out: string | undefined): Promise<string> {
  const kept = out === undefined ? [] : await folderFiles(out, '').list()
  const newest = kept.at(-1)
  const way = newest
    ? `What is there is whole. The newest of its ${kept.length} checkpoints is of step ${newest.step}: make room on the disk, then lab train --resume ${out}`
    : 'There is no checkpoint to continue from.'
  return ['Not all of the run could be written:', ...missing.map((line) => `  ${line}`), way].join(
    '\n',
  )
}

/** The end of a run whose numbers broke: the evidence, and what to do. */
async function brokenRun({ message, broken }: BrokenNumbers, out: string | undefined) {
  const kept = out === undefined ? [] : await folderFiles(out, '').list()
  const newest = kept.at(-1)
  const advice = newest
    ? `Continue from the last checkpoint, of step ${newest.step}, with half the learning rate: lab train --resume ${out} --slower\n` +
      'Should it break there again, continue in the same way from an earlier file of its checkpoints, with --out for another folder.'
    : 'There is no checkpoint to continue from: train again with a lower learning rate, and with --out to keep checkpoints.'
  return new LabFailure(`${brokenHead(broken)} The run was ended.\n${message}\n${advice}`)
}
