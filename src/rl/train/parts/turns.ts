// Gathers responses of one batch as they come back from the GPU: written at once, or in turns with
// tools.
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { Rollout } from '../../../model/rollout/rollout.ts'
import type { PromptBatch, Sampling } from '../../../model/rollout/rollout_inputs.ts'
import { gathered, type TurnResponses } from '../../../model/rollout/rollout_turns.ts'
import type { Sample } from '../../../tasks/task/task.ts'
import { chatOf, chatTurns } from '../../../tasks/tools/chat_turns.ts'
import { Conversation, type ConversationSetting } from '../../../tasks/tools/conversation.ts'
import { markedTurns } from '../../../tasks/tools/marked_turns.ts'
import { TURN_DEFAULTS } from '../../../tasks/tools/tool.ts'
import { messagesOf } from '../../../tasks/tools/tool_prompts.ts'
import type { TurnFormat } from '../../../tasks/tools/turn_format.ts'
import type { Rollout as RolloutConfig } from '../../config/rollout.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import type { BatchTurns } from '../../experience/batch.ts'
import { batchTurns } from '../../experience/turns.ts'

/** Responses to all rows of a batch. */
export interface Responded {
  /** [B, R] */
  readonly response_ids: Uint32Array
  /** Where rows have several turns. */
  readonly turns?: BatchTurns
  /** Which decoded columns these responses are of; with `turns`. */
  readonly placed?: TurnResponses
  /** Of the written tokens, as they were asked for; [B, R] each. */
  readonly read: readonly Float32Array[]
}

/** How a run's vocabulary writes calls; undefined where the run has no tools. */
export function turnFormat({ task, model, tools = [] }: TrainerConfig): TurnFormat | undefined {
  if (tools.length === 0) return undefined
  const { tokenizer } = task
  if (!tokenizer.renderChat) return markedTurns(tokenizer, tools)
  const schemas = tools.map(({ schema }) => schema)
  return chatTurns(chatOf(tokenizer, model.model_type), schemas)
}

/** What the rows of a rollout talk with; undefined where they have one turn. */
export function conversationSetting(
  config: TrainerConfig,
  rollout: Pick<RolloutConfig, keyof typeof TURN_DEFAULTS | 'max_turns' | 'max_response_length'>,
): ConversationSetting | undefined {
  const format = turnFormat(config)
  const { max_turns = 1, max_response_length: response_length } = rollout
  if (!format || max_turns === 1) return undefined
  const {
    max_parallel_calls = TURN_DEFAULTS.max_parallel_calls,
    max_tool_response_length = TURN_DEFAULTS.max_tool_response_length,
    tool_response_truncate_side = TURN_DEFAULTS.tool_response_truncate_side,
  } = rollout
  const limits = {
    max_assistant_turns: max_turns,
    max_user_turns: undefined,
    max_parallel_calls,
    max_tool_response_length,
    tool_response_truncate_side,
  }
  return { format, tools: config.tools ?? [], limits, response_length }
}

/** One batch of prompts, and what its rows talk with. */
export interface Request {
  readonly prompts: PromptBatch
  readonly sampling: Sampling
  /** Of each row, [B]. */
  readonly samples: readonly Sample[]
  readonly setting: ConversationSetting | undefined
  readonly eos_token_ids: readonly number[]
}

/** Samples a batch and reads it back, with what else is asked for of every token. */
export async function respond(
  gpu: Gpu,
  rollout: Rollout,
  { prompts, sampling, samples, setting, eos_token_ids }: Request,
  ...columns: readonly ('log_probs' | 'entropy')[]
): Promise<Responded> {
  const tensors = columns.map((name) => rollout.tensors[name])
  if (!setting) {
    await rollout.generate(prompts, sampling)
    const [response_ids, ...read] = await gpu.read(rollout.tensors.response_ids, ...tensors)
    return { response_ids, read: read as Float32Array[] }
  }
  const held = samples.map((sample) => new Conversation(setting, messagesOf(sample)))
  const placed = await rollout.converse(prompts, sampling, ({ row, ids }) => held[row].say(ids))
  const read = tensors.length > 0 ? await gpu.read(...tensors) : []
  return {
    response_ids: placed.response_ids,
    turns: batchTurns(held, rollout.size.response_length, eos_token_ids),
    placed,
    read: read.map((values) => gathered(values as Float32Array, placed, rollout.size)),
  }
}
