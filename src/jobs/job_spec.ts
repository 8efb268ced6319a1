// Writes understory.json of a job: what it was made from, and what check.py holds the folder to.

import type { Experiment } from '../document/experiment/schema/schema.ts'
import type { OutFile } from '../formats/out_file.ts'
import type { Say } from '../formats/text_tables.ts'
import type { Sample, Task } from '../tasks/task/task.ts'
import type { Tokenizer } from '../tasks/tokenizers/tokenizer.ts'
import { createTools } from '../tasks/tools/index.ts'
import type { ModelSource } from './model_folders.ts'
import { jobMessages } from './rows/rows.ts'
import type { Scale } from './scale/scale.ts'
import type { Target, VerlVersion } from './settings/setting.ts'

export interface Job {
  readonly files: readonly OutFile[]
  /** What a person should know before a start, a sentence each. */
  readonly warnings: readonly string[]
}

/** What a job is made from. */
export interface JobSource extends ModelSource {
  /** The lab's version. */
  readonly understory: string
}

export interface JobOptions {
  /** The system that must be able to run it; the others get a script where they can. */
  readonly target: Target
  readonly verl: VerlVersion
  /** Index of the phase, where there are several. */
  readonly phase?: number
  /** Another model, on a cluster; without it the model of the source on one GPU. */
  readonly scale?: Scale
  /** Says what README.md says in another language than English. */
  readonly say?: Say
}

/** understory.json: the way back into the lab, and what check.py holds the folder to. */
export function jobSpec(
  { experiment, understory, vocabulary }: JobSource,
  { target, verl, scale }: JobOptions,
  task: Task,
  rows: number,
  files: readonly OutFile[],
) {
  const samples = Array.from({ length: 5 }, (_, i) => task.sample(experiment.seed, i, 'test'))
  const { test_size } = task
  return {
    format: 'understory-job-1',
    understory,
    target,
    verl,
    seed: experiment.seed,
    experiment,
    scale,
    files: [...files.map(({ path }) => path), 'README.md'],
    check: {
      eos_token_id: vocabulary.eos_token_id,
      rows: { train: rows, val: Math.min(experiment.validation.prompts, test_size) },
      prompts: samples.map((sample) => promptCheck(sample, experiment, vocabulary)),
      // A composed reward may have to wait for a program, so check.py gets no scores to compare.
      scores:
        experiment.reward.parts.length > 0 ? [] : samples.flatMap((sample) => scored(task, sample)),
    },
  }
}

/** What a prompt has to become in the job: from its messages, with the tools where there are
 * some. */
function promptCheck(
  sample: Sample,
  { tools, reward, rollout }: Experiment,
  vocabulary: Tokenizer,
) {
  const { prompt } = sample
  const hasTools = vocabulary.renderChat !== undefined && (rollout.max_turns ?? 1) > 1
  return {
    ...(vocabulary.files === undefined && { text: prompt }),
    messages: jobMessages(sample),
    ...(hasTools && { tools: createTools(tools, reward).map(({ schema }) => schema) }),
    ids: vocabulary.encode(prompt),
  }
}

/** Right, cut off, too long and empty. */
const scored = (task: Task, { prompt, ground_truth }: Sample) =>
  [ground_truth, ground_truth.slice(0, -1), `${ground_truth}0`, ''].map((response) => ({
    prompt,
    response,
    ground_truth,
    score: task.score(prompt, response),
  }))
