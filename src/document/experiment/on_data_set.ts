// Makes an experiment on a data set: an existing one with the rows for its task, or the usual one
// around a file.

import { ACTOR } from '../../rl/config/actor.ts'
import { ROLLOUT } from '../../rl/config/rollout.ts'
import type { DataChoice } from '../../tasks/data/data_task.ts'
import { isDocument } from './fields/paths.ts'
import { SFT } from './fields/phase_fields.ts'

type Fields = Readonly<Record<string, unknown>>
const section = (document: Fields, name: string): Fields => {
  const value = document[name]
  return isDocument(value) ? value : {}
}

/** The fields of a document that change, and what a person should know of it, in sentences. */
export interface OnDataSet {
  readonly fields: Fields
  readonly told: readonly string[]
}

/** The fields of a document that change when it trains on these rows: the task, room for the
 * longest answer, prompts for validation that there are, and batches that the rows can fill. Text
 * has no right answers to reward, so its phases become one of supervised learning; rows without
 * answers as texts have nothing to imitate, so their phases are those that score. */
export function onDataSet(document: Fields, task: DataChoice): OnDataSet {
  const rollout = section(document, 'rollout')
  const validation = section(document, 'validation')
  const { max_response_length: most } = rollout
  const { prompts } = validation
  const phases = onPhases(document, task)
  const batches = smallerBatches({ ...document, ...phases.fields }, task.train_size)
  return {
    fields: {
      task,
      data: { train_max_samples: task.train_size, ...section(document, 'data') },
      validation: {
        ...validation,
        ...(typeof prompts === 'number' && { prompts: Math.min(prompts, task.test_size) }),
      },
      ...phases.fields,
      ...batches.fields,
      rollout: {
        ...rollout,
        ...section(batches.fields, 'rollout'),
        ...(typeof most === 'number' && {
          max_response_length: Math.max(most, task.max_response_length),
        }),
      },
    },
    told: [...phases.told, ...batches.told],
  }
}

const TEXT_STEPS = 300

const isKind = (kind: string) => (phase: unknown) => isDocument(phase) && phase.kind === kind

/** The phases that rows of this kind can be trained with. */
function onPhases(document: Fields, task: DataChoice): OnDataSet {
  const given = Array.isArray(document.phases) ? document.phases : [{ kind: 'sft' }, { kind: 'rl' }]
  if (task.prompt_key === null && task.row_format === 'answers') {
    const phases = given.filter(isKind('sft'))
    return {
      fields: { phases: phases.length > 0 ? phases : [{ kind: 'sft', steps: TEXT_STEPS }] },
      told: [],
    }
  }
  if (task.answers === 'text' || !given.some(isKind('sft'))) return { fields: {}, told: [] }
  const phases = given.filter((phase) => !isKind('sft')(phase))
  return {
    fields: { phases: phases.length > 0 ? phases : [{ kind: 'rl', steps: RL_STEPS }] },
    told: [
      `Phases of supervised learning are left out: ${task.answers === null ? 'the rows have no right answers' : 'the right answers are objects or lists'}, so there is nothing to imitate.`,
    ],
  }
}

const RL_STEPS = 100

const sized = (value: unknown, fallback: unknown): number =>
  typeof value === 'number' ? value : Number(fallback)

/** Batches take each row at most once, so none is larger than the rows that there are. */
function smallerBatches(document: Fields, trainSize: number): OnDataSet {
  const told: string[] = []
  const set = section(document, 'data').train_max_samples
  if (set === null || Number(set) < 1) return { fields: {}, told }
  const rows = Math.min(sized(set, trainSize), trainSize)
  const cut = (what: string, size: number) => {
    told.push(
      `${what}: ${rows} in place of ${size}, because there are only ${rows} rows to train on.`,
    )
    return rows
  }
  const rollout = section(document, 'rollout')
  const prompts = sized(rollout.train_batch_size, ROLLOUT.train_batch_size.info.default)
  const given = Array.isArray(document.phases) ? document.phases : [{ kind: 'sft' }, { kind: 'rl' }]
  const phases = given.map((phase, i) => {
    if (!isDocument(phase)) return phase
    const batch = sized(phase.batch_size, SFT.batch_size.info.default)
    if (phase.kind === 'sft' && batch > rows)
      return { ...phase, batch_size: cut(`Batch of phase ${i + 1} (sft)`, batch) }
    return phase.kind === 'rl' ? withSmaller(phase, rows, i, cut) : phase
  })
  const isCut = prompts > rows && phases.some(isKind('rl'))
  const actor = section(document, 'actor')
  const changed = {
    ...(isCut && {
      rollout: {
        ...rollout,
        train_batch_size: cut('Prompts per step (rollout.train_batch_size)', prompts),
      },
      actor: withMiniBatch(actor, rows),
    }),
  }
  return { fields: { ...changed, ...(told.length > 0 && { phases }) }, told }
}

/** A phase with its own number of prompts per step. */
function withSmaller(
  phase: Fields,
  rows: number,
  i: number,
  cut: (what: string, size: number) => number,
): Fields {
  const rollout = section(phase, 'rollout')
  const prompts = sized(rollout.train_batch_size, 0)
  if (prompts <= rows) return phase
  return {
    ...phase,
    rollout: {
      ...rollout,
      train_batch_size: cut(
        `Prompts per step of phase ${i + 1} (rollout.train_batch_size)`,
        prompts,
      ),
    },
    ...(phase.actor !== undefined && { actor: withMiniBatch(section(phase, 'actor'), rows) }),
  }
}

/** Mini-batches divide the batch. */
function withMiniBatch(actor: Fields, rows: number): Fields {
  const size = sized(actor.ppo_mini_batch_size, ACTOR.ppo_mini_batch_size.info.default)
  return rows % size === 0 ? actor : { ...actor, ppo_mini_batch_size: rows }
}

/** The most pairs that the usual experiment takes. */
const MOST_PAIRS = 4096
const MOST_HELD_OUT_PAIRS = 1024

/** The usual experiment on a file of rows: a small model learns the answers, then is rewarded for
 * them; where the rows have pairs, a reward model learns them in between and rewards; where they
 * have single verdicts alone, KTO learns from these. Text is only continued. */
export function usualDataExperiment(task: DataChoice): OnDataSet {
  const few = Math.min(32, task.train_size)
  const [sft, rl] = [
    { kind: 'sft', steps: 150, batch_size: USUAL_BATCH, optim: { lr_warmup_steps: 10 } },
    { kind: 'rl', steps: RL_STEPS },
  ]
  const rewardModel = { kind: 'reward_model', ...fromFile(task.train_pairs, task.test_pairs) }
  const { train_undesirable, test_undesirable } = task
  const verdicts = [task.train_size + train_undesirable, task.test_size + test_undesirable] as const
  const kto = {
    kind: 'preference',
    preference: { loss_type: 'kto' },
    ...fromFile(...verdicts),
  }
  const document = {
    name: task.name,
    model: {
      hidden_size: 64,
      num_hidden_layers: 3,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      intermediate_size: 128,
    },
    phases:
      task.train_pairs > 0
        ? [sft, rewardModel, { ...rl, reward_model: { enable: true } }]
        : train_undesirable > 0
          ? [sft, kto]
          : [sft, rl],
    rollout: { train_batch_size: USUAL_PROMPTS, n: 4 },
    actor: { ppo_mini_batch_size: USUAL_PROMPTS, optim: { lr: 0.0005, lr_warmup_steps: 5 } },
    validation: { prompts: Math.min(128, task.test_size), n: 1 },
    probe: { rows: Math.min(32, few) },
  }
  const { fields, told } = onDataSet(document, task)
  return { fields: { ...document, ...fields }, told }
}

/** A phase that learns from the rows: of so many pairs, or single answers, and as many held out. */
const fromFile = (train: number, test: number) => ({
  batch_size: Math.min(32, train),
  pairs: {
    source: 'file',
    count: Math.min(MOST_PAIRS, Math.max(1, train)),
    held_out: Math.min(MOST_HELD_OUT_PAIRS, test),
  },
})

const USUAL_BATCH = 64
const USUAL_PROMPTS = 32
