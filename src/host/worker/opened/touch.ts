// Touches kept states of a run that is over: reads them, and hands what is in them to who has the
// GPU.
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import type { Checkpoint } from '../../checkpoints/file/checkpoint.ts'
import { mergedPolicy } from '../../checkpoints/merged_policy.ts'
import type { TouchCommand, Touched } from '../../protocol/touch.ts'
import type { Touch, TouchState } from '../base/session_host.ts'
import { takeContents } from '../start/run_start.ts'

/** Throws RangeError for a state without weights. */
export function touchInto(
  touch: Touch,
  checkpoints: readonly (() => Promise<Pick<Checkpoint, 'run'>>)[],
  { work, contents }: Pick<TouchCommand, 'work' | 'contents'>,
  onProgress: (done: number, of: number) => void,
): Promise<Touched> {
  const states = checkpoints.map((load) => async (): Promise<TouchState> => {
    const { run } = await load()
    await takeContents(run.document, contents ?? [])
    const { experiment, trainer } = run
    const { vocab_size } = taskOf(experiment.task).tokenizer
    const { weights: policy, adapter } = trainer.actor
    const weights = mergedPolicy({ experiment, vocab_size, policy, adapter })
    if (!weights)
      throw new RangeError(`The checkpoint of step ${trainer.step} has no weights of its own.`)
    return { step: trainer.step, experiment, weights }
  })
  return touch(states, work, onProgress)
}
