// An experiment on a data set: an existing one with the rows for its task, or the usual one around a file.
import type { DataChoice } from '../../tasks/data/data_task.ts'
import { type Parsed, parseExperiment } from './experiment.ts'
import { isDocument } from './paths.ts'

type Fields = Readonly<Record<string, unknown>>
const section = (document: Fields, name: string): Fields => {
  const value = document[name]
  return isDocument(value) ? value : {}
}

/**
 * The fields of a document that change when it trains on these rows: the task, room for the longest answer and prompts for validation that there
 * are. Text has no right answers to reward, so its phases become one of supervised learning.
 */
export function onDataSet(document: Fields, task: DataChoice): Fields {
  const rollout = section(document, 'rollout')
  const validation = section(document, 'validation')
  const { max_response_length: most } = rollout
  const { prompts } = validation
  const { phases } = document
  const supervised = Array.isArray(phases)
    ? phases.filter((phase) => isDocument(phase) && phase.kind === 'sft')
    : []
  return {
    task,
    data: { train_max_samples: task.train_size, ...section(document, 'data') },
    rollout: {
      ...rollout,
      ...(typeof most === 'number' && {
        max_response_length: Math.max(most, task.max_response_length),
      }),
    },
    validation: {
      ...validation,
      ...(typeof prompts === 'number' && { prompts: Math.min(prompts, task.test_size) }),
    },
    ...(task.prompt_key === '' && {
      phases: supervised.length > 0 ? supervised : [{ kind: 'sft', steps: TEXT_STEPS }],
    }),
  }
}

const TEXT_STEPS = 300

/** The usual experiment on a file of rows: a small model learns the answers, then is rewarded for them. Text is only continued. */
export function usualDataExperiment(task: DataChoice): Parsed {
  const batch = Math.min(64, task.train_size)
  const few = Math.min(32, task.train_size)
  const document = {
    name: task.name,
    model: {
      hidden_size: 64,
      num_hidden_layers: 3,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      intermediate_size: 128,
    },
    phases: [
      { kind: 'sft', steps: 150, batch_size: batch, optim: { lr_warmup_steps: 10 } },
      { kind: 'rl', steps: 100 },
    ],
    rollout: { train_batch_size: few, n: 4 },
    actor: { ppo_mini_batch_size: few, optim: { lr: 0.0005, lr_warmup_steps: 5 } },
    validation: { prompts: Math.min(128, task.test_size), n: 1 },
    probe: { rows: Math.min(32, few) },
  }
  return parseExperiment({ ...document, ...onDataSet(document, task) })
}
