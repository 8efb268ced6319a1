// Runs golden conversations of verl's tool agent loop: what is appended, masked, counted, cut and
// padded.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tokenLevelScores } from '../src/rl/config/overlong.ts'
import { makeBatch, padPrompts } from '../src/rl/experience/batch.ts'
import { batchTurns } from '../src/rl/experience/turns.ts'
import { loadTokenizer } from '../src/tasks/tokenizers/load_tokenizer.ts'
import type { Tokenizer } from '../src/tasks/tokenizers/tokenizer.ts'
import { chatOf, chatTurns } from '../src/tasks/tools/chat_turns.ts'
import { Conversation } from '../src/tasks/tools/conversation.ts'
import {
  type Tool,
  type ToolSchema,
  TRUNCATE_SIDES,
  type TurnLimits,
} from '../src/tasks/tools/tool.ts'
import type { Message } from '../src/tasks/tools/turn_format.ts'
import type { Fields } from './base/fields.ts'
import type { Handler, Outputs } from './base/fixture.ts'
import { within } from './base/tolerances.ts'

const MODEL_TYPES = ['qwen2', 'qwen3', 'llama']

/** A case as it is written. */
interface Dialogue {
  readonly tokenizerFolder: string
  readonly templateFile: string | undefined
  readonly messages: readonly Message[]
  readonly schemas: readonly ToolSchema[]
  readonly generations: readonly Fields[]
  readonly results: readonly Fields[]
  readonly score: number | undefined
  readonly model_type: string
  readonly prompt_length: number
  readonly response_length: number
  readonly limits: TurnLimits
}

function readDialogue(inputs: Fields, config: Fields, folder: string): Dialogue {
  const file = inputs.optionalText('chat_template_file')
  config.choice('tool_parser', ['hermes'])
  return {
    tokenizerFolder: join(folder, inputs.optionalText('tokenizer') ?? ''),
    templateFile: file === undefined ? undefined : join(folder, file),
    messages: (inputs.raw('messages') ?? []) as Message[],
    schemas: (inputs.raw('tools') ?? []) as ToolSchema[],
    generations: inputs.list('generations'),
    results: inputs.has('tool_results') ? inputs.list('tool_results') : [],
    score: inputs.optionalNumber('score'),
    model_type: config.choice('hf_model_type', MODEL_TYPES),
    prompt_length: config.number('prompt_length'),
    response_length: config.number('response_length'),
    limits: {
      max_assistant_turns: config.optionalNumber('max_assistant_turns'),
      max_user_turns: config.optionalNumber('max_user_turns'),
      max_parallel_calls: config.number('max_parallel_calls'),
      max_tool_response_length: config.number('max_tool_response_length'),
      tool_response_truncate_side: config.choice('tool_response_truncate_side', TRUNCATE_SIDES),
    },
  }
}

const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function tokenizerOf({ tokenizerFolder, templateFile }: Dialogue): Promise<Tokenizer> {
  const config = readIfThere(join(tokenizerFolder, 'tokenizer_config.json'))
  const template = templateFile ?? join(tokenizerFolder, 'chat_template.jinja')
  const jinja = readIfThere(template)
  return loadTokenizer({
    'tokenizer.json': readFileSync(join(tokenizerFolder, 'tokenizer.json'), 'utf8'),
    ...(config !== undefined && { 'tokenizer_config.json': config }),
    ...(jinja !== undefined && { 'chat_template.jinja': jinja }),
  })
}

/** Tools that answer what the case says, in the order in which they are called. */
function scriptedTools({ schemas, results }: Dialogue): Tool[] {
  const left = results.map((result) => ({
    text: result.optionalText('text'),
    reward: result.optionalNumber('reward'),
    raise: result.optionalText('raise'),
  }))
  return schemas.map((schema) => ({
    schema,
    marks: { open: '', close: '', argument: '' },
    call: () => {
      const next = left.shift()
      if (next?.raise !== undefined) throw new Error(next.raise)
      return { text: next?.text ?? '', ...(next?.reward !== undefined && { reward: next.reward }) }
    },
  }))
}

async function held(dialogue: Dialogue): Promise<Outputs> {
  const { messages, schemas, limits, prompt_length: P, response_length: R } = dialogue
  const tokenizer = await tokenizerOf(dialogue)
  const chat = chatOf(tokenizer, dialogue.model_type)
  // What is too long loses its beginning.
  const prompt = chat.render(messages, schemas, true).slice(-P)
  const format = chatTurns(chat, schemas)
  const setting = { format, tools: scriptedTools(dialogue), limits, response_length: R }
  const talk = new Conversation(setting, messages, prompt.at(-1))
  const server_prompts: number[][] = []
  const logProbs: number[] = []
  let hasLogProbs = false
  for (const generation of dialogue.generations) {
    server_prompts.push([...prompt, ...talk.response_ids])
    const ids = [...generation.vector('token_ids')]
    hasLogProbs ||= generation.has('log_probs')
    logProbs.push(
      ...(generation.has('log_probs') ? generation.vector('log_probs') : ids.map(() => 0)),
    )
    const appended = await talk.say(ids)
    if (!appended) break
    logProbs.push(...appended.map(() => 0))
  }
  const { response_ids, response_mask, num_turns, tool_calls, tool_rewards } = talk
  return within('exact', {
    prompt_ids: prompt,
    response_ids,
    response_mask,
    response_logprobs: hasLogProbs ? logProbs.slice(0, response_ids.length) : null,
    num_turns,
    server_prompts,
    generations_used: server_prompts.length,
    tool_calls,
    tool_rewards,
    reward: {
      solution_str: format.text(response_ids),
      num_turns,
      unpadded_rm_scores: scoresOf(dialogue, response_ids.length, response_ids.length),
    },
    padded: paddedRow(dialogue, tokenizer, prompt, talk, hasLogProbs ? logProbs : undefined),
  })
}

const scoresOf = ({ score }: Dialogue, length: number, columns: number): number[] | null =>
  score === undefined ? null : [...tokenLevelScores([score], [length], columns)]

/** The row of a training batch. */
function paddedRow(
  dialogue: Dialogue,
  tokenizer: Tokenizer,
  prompt: readonly number[],
  talk: Conversation,
  logProbs: readonly number[] | undefined,
) {
  const { prompt_length: P, response_length: R } = dialogue
  const ids = new Uint32Array(R).fill(tokenizer.pad_token_id)
  ids.set(talk.response_ids)
  const prompts = padPrompts([prompt], P, tokenizer.pad_token_id)
  const size = { rows: 1, prompt_length: P, response_length: R }
  const turns = batchTurns([talk], R, tokenizer.eos_token_ids)
  const batch = makeBatch(prompts, ids, size, tokenizer.eos_token_ids, {
    max_response_length: R,
    turns,
  })
  const rollout_log_probs = logProbs && [...logProbs, ...new Array(R).fill(0)].slice(0, R)
  return {
    prompts: prompts.input_ids,
    responses: batch.response_ids,
    response_mask: batch.response_mask,
    attention_mask: batch.attention_mask,
    position_ids: batch.position_ids,
    ...(dialogue.score !== undefined && {
      rm_scores: scoresOf(dialogue, talk.response_ids.length, R),
    }),
    ...(rollout_log_probs && { rollout_log_probs }),
  }
}

const tool_agent_loop: Handler = ({ inputs, config, folder }) => {
  const dialogue = readDialogue(inputs, config, folder)
  for (const generation of dialogue.generations) generation.ignore('token_ids', 'log_probs')
  for (const result of dialogue.results) result.ignore('text', 'reward', 'raise')
  return [{ on: 'driver', run: () => held(dialogue) }]
}

export const MULTI_TURN_CASES: Readonly<Record<string, Handler>> = { tool_agent_loop }
